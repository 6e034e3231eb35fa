#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convlab/device/activity.h"

namespace convlab {

/// One kernel's counters, named as in NVIDIA's tools, which show the same values: "sm__throughput.avg...".
struct KernelCounters {
  std::string kernel, part;  ///< as in the recording: function, and layer
  std::vector<std::pair<std::string, double>> metrics;

  /// Returns the metric whose name begins with `beginning`; NaN if there is none.
  double value(std::string_view beginning) const;
};

/// A GPU's counters for one pass, per kernel, or why there are none.
struct Utilisation {
  std::vector<KernelCounters> kernels;
  std::string refusal;  ///< "", or why there are none, and whom to ask for what
};

/// Runs `pass` with the GPU's counters, through CUPTI's Range Profiler. Each kernel is replayed until all counters are
/// collected, so times of the pass are meaningless. `recording` is of the same pass: it names the kernels, in the same
/// order. If the driver does not permit counters, the result has a refusal; this is not an error.
Utilisation take_counters(const Recording& recording, const std::function<void()>& pass);

/// Returns "convolve" for "void convlab::(anonymous namespace)::convolve<5>(float const*)".
std::string short_name(std::string kernel);

/// Returns what limits a kernel, in words: compute or memory if one of them is above 60 % of the chip's peak, NVIDIA's
/// tools' criterion; otherwise what its warps wait for.
std::string limit_of(const KernelCounters& counters);

/// Returns a table of the percentages that reports show, with each kernel's limit; or the refusal.
std::string to_text(const Utilisation& utilisation);

}  // namespace convlab
