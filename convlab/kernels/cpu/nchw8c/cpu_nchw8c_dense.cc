// Dense layers: 1x1 convolutions of 1x1 images, in nchw or nchw8c.

#include <algorithm>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_sums.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_dense {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw8c_dense",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 2,
    .idea = "1x1 images treated as the pixels of one image, so that each weight is loaded once for several images",
    .after = "cpu.nchw8c_direct",
    .threads = "A work item is a range of output channels of all images.",
    .cost =
        "C fused multiply-adds, each 1 / lanes of a vector instruction. Inputs whose channels are not a multiple of 8 "
        "are copied.",
    .refuses = "Images larger than 1x1, padding before the pixel, groups, filters other than 1x1, and fused addition.",
    .limit = "The memory bandwidth for weights.",
};

constexpr int64_t kPieceProducts = int64_t{1} << 15;  // the least work for another thread

int64_t padded(int64_t channels) { return round_up(channels, kChannelLanes); }

/// Returns whether images of one pixel are in memory as in nchw.
bool in_plain_order(Format format, int64_t channels) {
  return format.order == Order::nchw || (format == kNchw8c && channels % kChannelLanes == 0);
}

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  if (step.input_format == kRawPixels || !in_plain_order(step.input_format, problem.c) ||
      !in_plain_order(step.output_format, problem.k)) {
    return "input and output must be float32 in nchw, or nchw8c with a multiple of 8 channels";
  }
  const bool pixels = problem.h == 1 && problem.w == 1 && problem.p() == 1 && problem.q() == 1;
  if (!pixels || problem.r != 1 || problem.s != 1 || problem.groups > 1) {
    return "only 1x1 images, 1x1 filters and one group are supported";
  }
  if (problem.pad_top != 0 || problem.pad_left != 0) return "padding before the pixel is not supported";
  if (step.adds) return "fused addition is not supported";
  if (step.epilogue.pool) return "fused pooling is not supported";
  if (checked_product({problem.n, padded(problem.c)}) > INT32_MAX) {
    return "the input must have fewer than 2^31 elements";
  }
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_product({padded(step.problem.k), padded(step.problem.c), sizeof(float)}));
}

void prepare(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  pack_panels(args.w, problem.k, problem.c, padded(problem.k), padded(problem.c), static_cast<float*>(args.prepared));
}

/// Scratch: padded biases, sums in [block of 8 output channels][image][8], and padded inputs.
struct Scratch {
  float *bias, *sums, *x;

  Scratch(const ConvProblem& problem, void* memory)
      : bias(static_cast<float*>(memory)), sums(bias + padded(problem.k)), x(sums + problem.n * padded(problem.k)) {}
};

size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
  const int64_t k = padded(step.problem.k), c = padded(step.problem.c);
  return static_cast<size_t>(checked_mul(checked_mul(step.problem.n + 1, k) + checked_mul(step.problem.n, c), 4));
}

void launch(const ConvArgs& args, Stream& stream) {
  const ConvStep& step = args.step;
  const ConvProblem& problem = step.problem;
  const int64_t channels = padded(problem.c), maps = padded(problem.k);
  const auto* x = static_cast<const float*>(args.x);
  int64_t x_step = image_step(step.input_step, problem.input_shape());
  const Scratch scratch(problem, args.workspace);
  std::fill_n(scratch.bias, maps, 0.0f);
  if (step.epilogue.bias) std::copy_n(args.bias, problem.k, scratch.bias);
  if (channels != problem.c) {
    for (int64_t n = 0; n < problem.n; ++n) {
      float* const end = std::copy_n(x + n * x_step, problem.c, scratch.x + n * channels);
      std::fill(end, scratch.x + (n + 1) * channels, 0.0f);
    }
    x = scratch.x;
    x_step = channels;
  }
  std::vector<int32_t> images, blocks, panels;
  for (int64_t n = 0; n < problem.n; ++n) images.push_back(static_cast<int32_t>(n * x_step));
  for (int64_t c = 0; c < channels; c += kChannelLanes) blocks.push_back(static_cast<int32_t>(c));
  for (int64_t m = 0; m < maps; m += channel_panel_maps(maps - m)) panels.push_back(static_cast<int32_t>(m));
  const std::optional<Clamp> clamp = clamp_of(step.epilogue.activation);
  const auto* weights = static_cast<const float*>(args.prepared);
  const int64_t y_step = image_step(step.output_step, problem.output_shape());
  const int64_t grain = ceil_div(kPieceProducts, problem.n * channels * channel_panel_maps(maps));
  stream.threads()->parallel_for(std::ssize(panels), grain, [&](int64_t begin, int64_t end, int) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panels[static_cast<size_t>(panel)], count = channel_panel_maps(maps - first);
      float* const sums = scratch.sums + first * problem.n;
      sum_channels({.x = x,
                    .pixels = images.data(),
                    .count = problem.n,
                    .offsets = blocks.data(),
                    .terms = std::ssize(blocks),
                    .w = weights + first * channels,
                    .maps = count,
                    .bias = scratch.bias + first,
                    .y = sums,
                    .block_step = problem.n * kChannelLanes,
                    .clamp = clamp.value_or(Clamp{})});
      if (!clamp) activate(step.epilogue.activation, sums, problem.n * count);
      for (int64_t m = first; m < std::min(first + count, problem.k); m += kChannelLanes) {
        const int64_t lanes = std::min(kChannelLanes, problem.k - m);
        for (int64_t n = 0; n < problem.n; ++n) {
          std::copy_n(scratch.sums + (m * problem.n + n * kChannelLanes), lanes, args.y + n * y_step + m);
        }
      }
    }
  });
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch>,
    .format = kNchw8c,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_dense
