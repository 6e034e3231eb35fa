#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convlab/device/activity.h"

namespace convlab {

/// One kernel's counters, named as in NVIDIA's tools, which show the same: "sm__throughput.avg...".
struct KernelCounters {
  std::string kernel, part;  ///< as in the recording: function, and layer
  std::vector<std::pair<std::string, double>> metrics;

  /// The metric whose name begins with this; NaN if there is none.
  double value(std::string_view beginning) const;
};

/// What the GPU's counters say of one pass, kernel by kernel, or why they say nothing.
struct Utilisation {
  std::vector<KernelCounters> kernels;
  std::string refusal;  ///< "", or why there are none and what to ask of whom
};

/// Runs `pass` with the GPU's counters, through CUPTI's Range Profiler: each kernel is repeated until all are taken, so
/// times mean nothing meanwhile. `recording` comes from such a pass: it names the kernels, in the same order. What the
/// driver does not permit is a refusal, not an error.
Utilisation take_counters(const Recording& recording, const std::function<void()>& pass);

/// "convolve" for "void convlab::(anonymous namespace)::convolve<5>(float const*)".
std::string short_name(std::string kernel);

/// What keeps a kernel from being faster, in words: compute or memory where one of them is above 60 % of what the chip
/// can do, as NVIDIA's tools judge; otherwise what its warps wait for.
std::string limit_of(const KernelCounters& counters);

/// A table of the percentages that reports show, and each kernel's limit; or the refusal.
std::string to_text(const Utilisation& utilisation);

}  // namespace convlab
