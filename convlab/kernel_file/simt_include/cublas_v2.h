#pragma once

#include "convlab/simt/cuda/cublas.h"
#include "convlab/simt/cuda/cuda_on_host.h"
