#pragma once

#include <utility>

#include "convlab/kernel_file/simt_include/thrust/detail/pointers.h"
#include "convlab/kernel_file/simt_include/thrust/detail/transformations.h"

namespace thrust {
using std::swap;
}
