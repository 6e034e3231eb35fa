#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab::app {

/// The counts of one function's launches for one layer.
struct CountedKernel {
  std::string layer;
  std::string kernel;  ///< "cuda.basic", or a file's name
  KernelCounts counts;
};

struct CountsResult {
  std::string model;
  int64_t images = 0;
  const std::vector<CountedKernel>& kernels;
};
void write_json(Output& output, const CountsResult& result);

}  // namespace convlab::app
