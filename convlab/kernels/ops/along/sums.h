#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace convlab {

/// Returns the sum of function(x[i]) in double, in an order that depends only on `count`: eight interleaved sums, which
/// compilers vectorize.
template <class Function>
double sum_of(const float* x, int64_t count, Function function) {
  constexpr int64_t kSums = 8;
  double sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int64_t j = 0; j < kSums; ++j) sums[j] += function(static_cast<double>(x[i + j]));
  }
  for (int64_t j = 0; i < count; ++i, ++j) sums[j] += function(static_cast<double>(x[i]));
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

}  // namespace convlab
