// Finds why a kernel does not support a step, apart from the step's formats.

#include "convlab/kernels/format_refusal.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace convlab {

Refusal refuse_in_all_formats(const Kernel& kernel, ConvStep step, const DeviceCaps& caps) {
  const Format own = kernel.format, plain = step.input_format == kRawPixels ? kRawPixels : kNchw;
  std::vector<std::string> reasons;
  for (const auto& [input, output] : {std::pair(plain, own), {own, own}, {plain, kNchw}, {own, kNchw}}) {
    step.input_format = input;
    step.output_format = output;
    Refusal reason = kernel.refuses(step, caps);
    if (!reason) return std::nullopt;
    reasons.push_back(*std::move(reason));
  }
  // A reason that is about formats is returned for most of them, and another one only where the formats fit. Of equally
  // frequent ones take that for nchw in and the own format out: there, a kernel for both reaches its other checks.
  return *std::ranges::min_element(reasons, {},
                                   [&](const std::string& each) { return std::ranges::count(reasons, each); });
}

}  // namespace convlab
