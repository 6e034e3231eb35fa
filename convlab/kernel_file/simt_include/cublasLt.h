#pragma once

#include "convlab/simt/cuda/cublas_lt.h"
#include "convlab/simt/cuda/cuda_on_host.h"
