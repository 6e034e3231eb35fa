#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "convlab/conv/problem.h"
#include "convlab/device/thread_pool.h"

namespace convlab {

/// A convolution of 8-bit integers minus their zero points, stored as float. Padding equals the zero point. Sums are
/// exact.
struct IntegerConv {
  ConvProblem problem;
  const float* x = nullptr;
  const float* w = nullptr;
  float x_zero = 0;
  std::span<const float> w_zeros;  ///< empty: 0; otherwise one, or one per output channel
};

/// Returns the floats of scratch that integer_conv() needs.
int64_t integer_conv_workspace_count(const ConvProblem& problem);

/// Calls take(map, place, count, sums) for ranges of adjacent outputs of output channel `map`, starting at index
/// `place` of the output, until all are covered.
using TakeMapSums = std::function<void(int64_t map, int64_t place, int64_t count, const double* sums)>;
void integer_conv(const IntegerConv& conv, float* workspace, ThreadPool& threads, const TakeMapSums& take);

}  // namespace convlab
