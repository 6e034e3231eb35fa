#pragma once

#include <cstdint>
#include <functional>

#include "convlab/device/thread_pool.h"

namespace convlab {

/// Arrays in a workspace start at cache lines.
inline constexpr int64_t kFloatsOfLine = 16;

/// A (m x k, row-major) times B (k x n), exactly, for integers of at most 9 bits (differences of 8-bit integers),
/// stored as float. Blocks of 128 products are summed in fp32, which is exact up to 2^24; the block sums are added in
/// double.
struct IntegerProduct {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  const float* b = nullptr;  ///< row-major
};

/// Returns the floats of scratch that integer_product() needs.
int64_t integer_workspace_count(int64_t n, int64_t k);

/// Calls take(row, column, count, sums) for ranges of C's rows that cover C once, on all threads.
using TakeSums = std::function<void(int64_t row, int64_t column, int64_t count, const double* sums)>;
void integer_product(const IntegerProduct& product, float* workspace, ThreadPool& threads, const TakeSums& take);

}  // namespace convlab
