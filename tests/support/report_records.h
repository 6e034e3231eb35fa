#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "convlab/kernels/registry.h"
#include "convlab/measure/record.h"

namespace convlab {

/// Whether this build has the ladder's CUDA kernels, for a GPU or for simt on the host.
inline bool has_cuda_kernels() {
  return std::ranges::any_of(conv_kernels(),
                             [](const Kernel& kernel) { return kernel.info.device != DeviceKind::cpu; });
}

/// A synthetic Record of a GPU kernel that takes `ms`, with a spread of 0.1 %.
inline Record some_record(const std::string& kernel, const std::string& problem, double ms = 1,
                          const std::string& device = "NVIDIA H200") {
  const std::vector<double> samples = {0.999 * ms, ms, ms, ms, ms, ms, ms, ms, ms, 1.001 * ms};
  return {.kernel = kernel,
          .problem = problem,
          .math = "fp32",
          .device = DeviceKind::cuda,
          .rung = 1,
          .cold_ms = summarize(samples),
          .hot_ms = summarize(samples),
          .op_ms = summarize(samples),
          .gflops = 100 / ms,
          .gbps = 10 / ms,
          .bound_ms = ms / 4,
          .share = 0.25,
          .limit = "memory",
          .ceilings = {.fp32_flops = 60e12, .memory_bytes = 4e12, .cache_bytes = 8e12},
          .machine = {.device = device, .cpu = "a CPU", .threads = 1, .system = "Linux 6", .driver = "580"},
          .build = {.version = "0.1.0", .compiler = "g++ 12.2.0", .cuda = "13.0", .type = "Release"},
          .when = "2026-01-31T12:00:00Z"};
}

}  // namespace convlab
