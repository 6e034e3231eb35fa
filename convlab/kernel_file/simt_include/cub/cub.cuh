#pragma once

/// CUB for simt, written anew: the collectives of warps and blocks as code of the kernel that calls them, and
/// device-wide algorithms as kernels. detail/collective.cuh and detail/device_launch.cuh say how. Names are those of
/// CUB 2.8; those that CUDA 13 removed, such as cub::Sum, are here, too.

// Programs rely on what the original includes.
#include <chrono>
#include <iostream>

#include "convlab/kernel_file/simt_include/cub/block/block_adjacent_difference.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_discontinuity.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_exchange.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_histogram.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_load.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_radix_sort.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_reduce.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_scan.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_store.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_histogram.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_merge_sort.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_partition.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_radix_sort.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_reduce.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_run_length_encode.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_scan.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_segmented_reduce.cuh"
#include "convlab/kernel_file/simt_include/cub/device/device_select.cuh"
#include "convlab/kernel_file/simt_include/cub/iterator/arg_index_input_iterator.cuh"
#include "convlab/kernel_file/simt_include/cub/iterator/cache_modified_input_iterator.cuh"
#include "convlab/kernel_file/simt_include/cub/iterator/constant_input_iterator.cuh"
#include "convlab/kernel_file/simt_include/cub/iterator/counting_input_iterator.cuh"
#include "convlab/kernel_file/simt_include/cub/iterator/discard_output_iterator.cuh"
#include "convlab/kernel_file/simt_include/cub/iterator/transform_input_iterator.cuh"
#include "convlab/kernel_file/simt_include/cub/thread/thread_operators.cuh"
#include "convlab/kernel_file/simt_include/cub/util_debug.cuh"
#include "convlab/kernel_file/simt_include/cub/util_macro.cuh"
#include "convlab/kernel_file/simt_include/cub/util_ptx.cuh"
#include "convlab/kernel_file/simt_include/cub/util_type.cuh"
#include "convlab/kernel_file/simt_include/cub/version.cuh"
#include "convlab/kernel_file/simt_include/cub/warp/warp_exchange.cuh"
#include "convlab/kernel_file/simt_include/cub/warp/warp_reduce.cuh"
#include "convlab/kernel_file/simt_include/cub/warp/warp_scan.cuh"
