#pragma once

/// What Thrust's headers of containers and sorts include on their way, and programs therefore use without including it.

#include <iostream>

#include "convlab/kernel_file/simt_include/thrust/detail/compactions.h"
#include "convlab/kernel_file/simt_include/thrust/detail/copies.h"
#include "convlab/kernel_file/simt_include/thrust/detail/device_memory.h"
#include "convlab/kernel_file/simt_include/thrust/detail/reductions.h"
#include "convlab/kernel_file/simt_include/thrust/detail/scans.h"
#include "convlab/kernel_file/simt_include/thrust/detail/sorts.h"
#include "convlab/kernel_file/simt_include/thrust/detail/transformations.h"
#include "convlab/kernel_file/simt_include/thrust/functional.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/counting_iterator.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/discard_iterator.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/transform_iterator.h"
#include "convlab/kernel_file/simt_include/thrust/iterator/zip_iterator.h"
#include "convlab/kernel_file/simt_include/thrust/swap.h"
#include "convlab/kernel_file/simt_include/thrust/version.h"
