#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "convlab/conv/problem.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/ceilings.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/fills.h"

namespace convlab::judge {

/// No algorithm does fewer than one in so many of a convolution's operations: Winograd's largest tiles in use do a
/// fifth of the multiplications, and transforms of large filters may save more.
inline constexpr int kMostSavedFlops = 8;

/// What direct convolution of this class takes at best: all its operations, and each float32 array moved once.
double direct_bound_s(const ConvProblem& problem, const Ceilings& ceilings, Math math);

/// Fresh data for one run of a submission. What it must give, nobody computes before the run has ended. Integers are
/// such that their sums are exact in a class of arithmetic: that of which the submission has shown to be so far.
struct Probe {
  ConvProblem problem;
  Fill fill;
  Tensor x, w;

  Probe(const ConvProblem& problem, Fill fill, Math math, uint64_t seed);
};

struct Checked {
  bool right = false;
  Math math = Math::fp32;  ///< right: the most exact class that allows for its errors
  std::string reason;      ///< wrong: in words, with numbers
};

/// Compares an output with the definition. `course_tolerance`: the largest error, over the largest value, with which
/// the course's projects compared (0: none): what is right by that alone is of the least exact class. NaN is never
/// right, but where a pixel is NaN.
Checked check_output(const Probe& probe, std::span<const float> got, double course_tolerance, ThreadPool& threads);

}  // namespace convlab::judge
