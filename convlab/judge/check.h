#pragma once

#include <cstdint>
#include <span>

#include "convlab/conv/problem.h"
#include "convlab/device/thread_pool.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/ceilings.h"
#include "convlab/tensor/tensor.h"
#include "convlab/verify/fills.h"

namespace convlab::judge {

/// No algorithm saves more than a factor of 8 in operations: Winograd with the largest tiles in use does a fifth of the
/// multiplications, and transforms of large filters may save more.
inline constexpr int kMostSavedFlops = 8;

/// Returns the roofline bound in seconds for direct convolution in this arithmetic class: all its operations, and each
/// fp32 array moved once.
double direct_bound_s(const ConvProblem& problem, const Ceilings& ceilings, Math math);

/// Fresh data for one run of a submission. The expected output is computed only after the run has ended. For
/// Fill::integers, the values are small enough that their sums are exact in the class `math`, the class that the
/// submission has shown so far.
struct Probe {
  ConvProblem problem;
  Fill fill;
  Tensor x, w;

  Probe(const ConvProblem& problem, Fill fill, Math math, uint64_t seed);
};

struct Checked {
  bool right = false;
  Math math = Math::fp32;  ///< if right: the most exact class whose error bounds it meets
  Finding wrong = {};      ///< if wrong: which outputs, and the likely cause
};

/// Compares an output with a direct reference computation. `course_tolerance` is the largest error relative to the
/// largest value that the course's projects accepted (0: none); an output that only meets that tolerance gets the least
/// exact class. A NaN in the output is wrong unless the expected value is NaN. A wrong output gets the finding that
/// `convlab verify` reports, without what only the process that computed it knows: the line that stored each value.
Checked check_output(const Probe& probe, std::span<const float> got, double course_tolerance, ThreadPool& threads);

}  // namespace convlab::judge
