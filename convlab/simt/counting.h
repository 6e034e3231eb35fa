#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "convlab/warps/kernel_counts.h"

namespace convlab::simt {

/// Starts counting: until stop_counting(), launches of kernels compiled with -fsanitize-coverage=trace-pc are counted.
/// Their loads and stores are not checked meanwhile, and they take two to three times as long.
void start_counting();

/// Stops counting and returns what was counted, with kernels in the order of their first launches.
std::vector<KernelCounts> stop_counting();

/// Returns how many bytes were filled on the device, as by cudaMemset, since start_counting().
int64_t filled_bytes();

namespace internal {

bool is_counting();

/// Adds a finished launch to what stop_counting() returns.
void keep_counts(KernelCounts kernel);
void keep_fill(size_t bytes);

}  // namespace internal
}  // namespace convlab::simt
