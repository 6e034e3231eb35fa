// Decides which convolutions a kernel file's interface can express.

#include "convlab/kernel_file/passed_shapes.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace convlab {
namespace {

/// Returns whether a convolve() function has separate parameters for the filter's height and width.
bool takes_both_sides(const KernelSource& source) {
  return std::ranges::any_of(source.functions.front().list,
                             [](const FileParameter& each) { return each.name == "R" || each.name == "r"; });
}

}  // namespace

Refusal PassedShapes::refuses(const ConvProblem& problem) const {
  if (problem.padded()) return "padding is not supported";
  if (!problem.unit_dilation()) return "dilation is not supported";
  if (problem.groups != 1) return "groups are not supported";
  if (!problem.unit_stride() && !strides) return "strides are not supported";
  if (problem.stride_h != problem.stride_w) return "different strides for rows and columns are not supported";
  if (square && problem.r != problem.s) return "the filter must be square";
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  if (problem.input_count() > kMost || problem.output_count() > kMost) {
    return "arrays must have at most 2^31 - 1 elements";
  }
  return std::nullopt;
}

PassedShapes passed_shapes(const KernelSource& source) {
  const FileFunction* const call = source.find("conv_forward_gpu");
  return {.strides = call != nullptr && call->number_count() == 7,
          .square = source.kind != FileKind::function || !takes_both_sides(source)};
}

}  // namespace convlab
