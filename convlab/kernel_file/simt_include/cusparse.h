#pragma once

#include "convlab/simt/cuda/cuda_on_host.h"
#include "convlab/simt/cuda/cusparse.h"
#include "convlab/simt/cuda/cusparse_factors.h"
#include "convlab/simt/cuda/cusparse_sparse_products.h"
#include "convlab/simt/cuda/cusparse_triangles.h"
