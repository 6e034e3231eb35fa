#pragma once

#error "simt does not support cuFFT's interface of FFTW: link FFTW, or include cufft.h"
