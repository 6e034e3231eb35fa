#pragma once

#error "simt does not support the legacy API of cuBLAS: include cublas_v2.h"
