// Depthwise convolutions in nchw8c.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw8c/depthwise_band.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_depthwise {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw8c_depthwise",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 5,
    .idea = "depthwise convolution with 8 channels per vector",
    .after = "cpu.direct",
    .threads = "A work item is a band of output rows of one block of 8 channels of one image.",
    .cost =
        "R * S fused multiply-adds for 8 channels, each 1 / lanes of a vector instruction. Up to 8 pixels of a row are "
        "summed at a time while a filter row stays in registers; for 3 columns that is 13 loads for 24 multiply-adds.",
    .refuses = "Convolutions other than depthwise with depth multiplier 1, and layouts other than nchw8c.",
    .limit = "Multiply-adds while the image fits in L2, otherwise memory.",
};

class Launch {
 public:
  Launch(const ConvArgs& args, int threads)
      : args_(args),
        problem_(args.step.problem),
        clamp_(clamp_of(args.step.epilogue.activation)),
        blocks_(problem_.n * (problem_.c / kChannelLanes)) {
    const int64_t wanted = ceil_div(4 * threads, blocks_);
    rows_ = ceil_div(problem_.p(), std::min(wanted, problem_.p()));
    bands_ = ceil_div(problem_.p(), rows_);
  }

  int64_t pieces() const { return blocks_ * bands_; }

  void compute(int64_t piece, int) const {
    const ConvStep& step = args_.step;
    const int64_t blocks = problem_.c / kChannelLanes, block = piece / bands_ % blocks, image = piece / bands_ / blocks;
    const int64_t first = piece % bands_ * rows_, count = std::min(rows_, problem_.p() - first);
    const int64_t row_count = problem_.q() * kChannelLanes, map_row = block * problem_.p() + first;
    const auto* x = static_cast<const float*>(args_.x) + image * image_step(step.input_step, problem_.input_shape()) +
                    block * problem_.h * problem_.w * kChannelLanes;
    const float* added = nullptr;
    if (step.adds) added = args_.added + image * image_step(step.added_step, step.output_shape()) + map_row * row_count;
    float* const y = args_.y + image * image_step(step.output_step, step.output_shape()) + map_row * row_count;
    const auto* prepared = static_cast<const float*>(args_.prepared);
    compute_band({.problem = problem_,
                  .x = x,
                  .w = prepared + (1 + block * problem_.r * problem_.s) * kChannelLanes,
                  .bias = step.epilogue.bias ? args_.bias + block * kChannelLanes : prepared,
                  .added = added,
                  .clamp = clamp_.value_or(Clamp{}),
                  .first = first,
                  .count = count,
                  .y = y});
    if (!clamp_) activate(step.epilogue.activation, y, count * row_count);
  }

 private:
  const ConvArgs& args_;
  const ConvProblem& problem_;
  std::optional<Clamp> clamp_;
  int64_t blocks_;  ///< in all images
  int64_t rows_ = 0, bands_ = 0;
};

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  if (problem.groups != problem.c || problem.k != problem.c) {
    return "only depthwise convolution with depth multiplier 1 is supported";
  }
  return refuse_unless_channel_lanes(step, false);
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(step.problem.filter_count() + kChannelLanes, sizeof(float)));
}

/// Packs eight zeros, for steps without a bias, then filters by block: [block][row][column][channel of the block].
void prepare(const ConvArgs& args, Stream&) {
  const int64_t taps = args.step.problem.r * args.step.problem.s;
  float* to = std::fill_n(static_cast<float*>(args.prepared), kChannelLanes, 0.0f);
  for (int64_t c = 0; c < args.step.problem.c; c += kChannelLanes) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t i = 0; i < kChannelLanes; ++i) *to++ = args.w[(c + i) * taps + tap];
    }
  }
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_pieces<Launch, ConvArgs>>,
    .format = kNchw8c,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_depthwise
