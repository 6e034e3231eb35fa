#pragma once

/// cuBLAS for simt: fp32 matrix products as plain loops. Matrices are column-major, as in Fortran.

#include "convlab/simt/cuda/cublas.h"
