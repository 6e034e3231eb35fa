// Converts a ConvProblem to 32 bits for GPU kernels, and checks that it fits.

#include "convlab/kernels/conv_shape.h"

#include <algorithm>
#include <limits>

#include <fmt/core.h>

namespace convlab {

ConvShape kernel_shape(const ConvProblem& problem) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  return {.n = narrow(problem.n),
          .c = narrow(problem.c),
          .h = narrow(problem.h),
          .w = narrow(problem.w),
          .k = narrow(problem.k),
          .r = narrow(problem.r),
          .s = narrow(problem.s),
          .p = narrow(problem.p()),
          .q = narrow(problem.q()),
          .pad_top = narrow(problem.pad_top),
          .pad_left = narrow(problem.pad_left),
          .stride_h = narrow(problem.stride_h),
          .stride_w = narrow(problem.stride_w),
          .dilation_h = narrow(problem.dilation_h),
          .dilation_w = narrow(problem.dilation_w),
          .channels = narrow(problem.channels_per_group()),
          .maps = narrow(problem.maps_per_group())};
}

Refusal refuse_unless_rung(const ConvStep& step) {
  if (Refusal refusal = refuse_unless_plain(step)) return refusal;
  const ConvProblem& problem = step.problem;
  constexpr int64_t kMostBlocksInY = 65535;
  if (problem.k > kMostBlocksInY) return fmt::format("at most {} output channels are supported", kMostBlocksInY);
  // A margin of a factor of two lets kernels round sizes up to whole tiles.
  constexpr int64_t kMost = std::numeric_limits<int>::max() / 2;
  const int64_t padded =
      (problem.h + problem.pad_top + problem.pad_bottom) * (problem.w + problem.pad_left + problem.pad_right);
  const int64_t largest =
      std::max({problem.n, padded * problem.c, problem.filter_count(), problem.output_count() / problem.n});
  if (largest > kMost) {
    return fmt::format("an image, the filters or the batch has {} elements; 32-bit indices support {}", largest, kMost);
  }
  return std::nullopt;
}

Refusal refuse_unless_dense(const ConvStep& step) {
  if (Refusal refusal = refuse_unless_rung(step)) return refusal;
  if (!step.problem.unit_stride()) return "strides other than 1 are not supported";
  if (!step.problem.unit_dilation()) return "dilation is not supported";
  if (step.problem.groups != 1) return "groups are not supported";
  return std::nullopt;
}

}  // namespace convlab
