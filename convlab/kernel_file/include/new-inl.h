#pragma once

/// Replaces the course's header of this name.

#include "convlab/kernel_file/include/mxnet/base.h"
