#pragma once

#error "simt does not support cuDNN: 'convlab cuda run' has cuBLAS, cublasLt, cuFFT, cuRAND and CUB"
