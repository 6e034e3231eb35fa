#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/often_included.h"
#include "convlab/kernel_file/simt_include/thrust/detail/reductions.h"
#include "convlab/kernel_file/simt_include/thrust/detail/sorts.h"
