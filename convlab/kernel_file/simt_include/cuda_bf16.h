#pragma once

#include "convlab/simt/cuda/cuda_bfloat16.h"
#include "convlab/simt/cuda/cuda_on_host.h"
