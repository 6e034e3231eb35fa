#pragma once

#include "convlab/kernel_file/simt_include/thrust/detail/reductions.h"
