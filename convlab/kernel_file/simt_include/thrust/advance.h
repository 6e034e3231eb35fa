#pragma once

#include "convlab/kernel_file/simt_include/thrust/iterator/iterator_traits.h"
