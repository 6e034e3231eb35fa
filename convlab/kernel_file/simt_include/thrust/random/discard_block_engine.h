#pragma once

#include "convlab/kernel_file/simt_include/thrust/random/engines.h"
