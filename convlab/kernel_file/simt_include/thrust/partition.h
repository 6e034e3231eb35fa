#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/compactions.h"
#include "convlab/kernel_file/simt_include/thrust/detail/reductions.h"
