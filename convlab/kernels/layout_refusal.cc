// Finds why a kernel does not support a step, apart from the step's layouts.

#include "convlab/kernels/layout_refusal.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace convlab {

Refusal refuse_in_all_layouts(const ConvKernel& kernel, ConvStep step, const DeviceCaps& caps) {
  constexpr Layout kPlain = Layout::plain;
  const Layout own = kernel.layout;
  std::vector<std::string> reasons;
  for (const auto& [input, output] : {std::pair(kPlain, own), {own, own}, {kPlain, kPlain}, {own, kPlain}}) {
    step.input_layout = input;
    step.output_layout = output;
    Refusal reason = kernel.refuses(step, caps);
    if (!reason) return std::nullopt;
    reasons.push_back(*std::move(reason));
  }
  // A reason that is about layouts is returned for most of them, and another one only where the layouts fit. Of equally
  // frequent ones take that for nchw in and the own layout out: there, a kernel for both reaches its other checks.
  return *std::ranges::min_element(reasons, {},
                                   [&](const std::string& each) { return std::ranges::count(reasons, each); });
}

}  // namespace convlab
