#pragma once

/// cuBLAS: see convlab/simt/cuda/cublas_handles.h.

#include "convlab/simt/cuda/cublas_factors.h"
#include "convlab/simt/cuda/cublas_handles.h"
#include "convlab/simt/cuda/cublas_matrices.h"
#include "convlab/simt/cuda/cublas_products.h"
#include "convlab/simt/cuda/cublas_vectors.h"
