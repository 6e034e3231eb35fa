#pragma once

#include <cstdint>
#include <string>

#include "app/compute_options.h"
#include "app/problems.h"
#include "app/results/output.h"

namespace convlab::app {

/// What `convlab tune --kernel GLOB --problem TEXT` measures.
struct TuneKernelsOptions {
  std::string kernel;  ///< glob, or a kernel file
  ProblemOptions problems;
  ComputeOptions compute;
  int64_t images = 0;  ///< batch size of convolutions; 0: that of the problem
  double seconds = 0;  ///< of measurements, approximately
};

/// Measures for each problem which kernel, with which values of its tunables, is the fastest; all launches are
/// interleaved. Prints a table and writes the results as JSON. Throws Error(bad_input) if no kernel supports a problem,
/// and Error(wrong_result) if a kernel computes wrong results.
void tune_kernels(const TuneKernelsOptions& options, Output& output);

}  // namespace convlab::app
