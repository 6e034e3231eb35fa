#pragma once

#include <cstdint>
#include <functional>

#include "convlab/device/thread_pool.h"

namespace convlab {

/// Arrays of a workspace begin at lines of the cache.
inline constexpr int64_t kFloatsOfLine = 16;

/// A (m x k, row-major) times B (k x n) for whole numbers of at most 9 bits, differences of 8-bit ones: exactly.
/// Blocks of 128 products are multiplied and summed in float32, which is exact up to 2^24, and blocks in double.
struct IntegerProduct {
  int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  const float* b = nullptr;  ///< row-major
};

/// Scratch that the product needs.
int64_t integer_workspace_count(int64_t n, int64_t k);

/// Calls take(row, column, count, sums) for pieces of C's rows that cover it once, on all threads.
using TakeSums = std::function<void(int64_t row, int64_t column, int64_t count, const double* sums)>;
void integer_product(const IntegerProduct& product, float* workspace, ThreadPool& threads, const TakeSums& take);

}  // namespace convlab
