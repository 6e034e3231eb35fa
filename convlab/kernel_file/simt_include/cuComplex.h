#pragma once

#include "convlab/simt/cuda/complex_numbers.h"
#include "convlab/simt/cuda/cuda_on_host.h"
