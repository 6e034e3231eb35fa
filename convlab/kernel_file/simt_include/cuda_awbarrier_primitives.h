#pragma once

#include "convlab/kernel_file/simt_include/cuda/detail/barrier_primitives.h"
