#pragma once

#include "convlab/kernel_file/simt_include/cuda/detail/experimental_pipeline.h"
