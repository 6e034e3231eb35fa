#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "convlab/conv/problem.h"
#include "convlab/device/thread_pool.h"

namespace convlab {

/// A convolution of whole numbers of 8 bits, less their zero points; padding is the zero point. Sums are exact.
struct IntegerConv {
  ConvProblem problem;
  const float* x = nullptr;
  const float* w = nullptr;
  float x_zero = 0;
  std::span<const float> w_zeros;  ///< empty: 0; one, or one for each map
};

/// Floats of scratch.
int64_t integer_conv_workspace_count(const ConvProblem& problem);

/// Calls take(map, place, count, sums) for neighbouring outputs, from `place` of the output on, until all are taken.
using TakeMapSums = std::function<void(int64_t map, int64_t place, int64_t count, const double* sums)>;
void integer_conv(const IntegerConv& conv, float* workspace, ThreadPool& threads, const TakeMapSums& take);

}  // namespace convlab
