#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/containers.h"
#include "convlab/kernel_file/simt_include/thrust/detail/often_included.h"
