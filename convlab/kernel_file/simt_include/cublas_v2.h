#pragma once

/// cuBLAS on simt: products of matrices, as plain loops over float32. Matrices lie column by column, as in Fortran.

#include "convlab/simt/cuda/cublas.h"
