// cuda.hopper_igemm_fp16: convolutions of deep networks in fp16 for compute capability 9.0, channels last (see
// hopper_conv.cuh).

#include <optional>

#include <fmt/core.h>

#include "convlab/kernels/gpu_channels/hopper_step.cuh"
#include "convlab/kernels/gpu_channels/pixel_step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_igemm_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .rank = 90,
    .idea = "the copy engine finds the pixels of a filter's taps, and warpgroups multiply them",
    .after = "cuda.igemm_fp16",
    .threads =
        "one thread has operands copied, one or two warpgroups multiply tiles of 64 to 256 output pixels by 32 to 256 "
        "maps. "
        "Blocks go through tiles; where there are few, four or eight blocks of a cluster have a part of a tile's sums "
        "each.",
    .cost =
        "2 * terms() flops, channels rounded up to 16; a pixel's channels are copied from the second cache r * s times "
        "for "
        "every tile of maps, the filters once for every tile of pixels.",
    .refuses =
        "groups, channels or maps that are no multiple of 8, pooling, strides above 8, filters of more "
        "than 256 "
        "pixels with their gaps, padding above 128, GPUs other than of compute capability 9.0.",
    .limit =
        "what a multiprocessor gets from the second cache: about 45 bytes a cycle were seen, and a tile of 128 x 256 "
        "needs 47 to "
        "multiply all the time, one of 128 x 128 needs 64.",
};

PixelConv conv_of(const ConvStep& step) { return conv_of_step<__half>(step); }

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (!runs_on_hopper(caps)) return "is made of instructions that only compute capability 9.0 has";
  if (step.epilogue.pool) return "does not pool";
  if (!takes_plain(step) && (step.input_layout != Layout::channels_last || problem.c % 8 != 0)) {
    return "takes plain images, or channels last in multiples of 8";
  }
  if (step.output_layout != Layout::channels_last || problem.k % 8 != 0) return "gives channels last in multiples of 8";
  if (problem.groups != 1) return "takes one group only";
  constexpr int64_t kMost = int64_t{1} << 30;
  if (problem.n * problem.p() * problem.q() > kMost || problem.n * problem.h * problem.w > kMost ||
      checked_mul(problem.r * problem.s, round_up(problem.c, kSliceTerms)) > kMost || problem.k > kMost) {
    return fmt::format("takes at most {} pixels, maps, and terms of a sum", kMost);
  }
  if (problem.stride_h > 8 || problem.stride_w > 8) return "takes strides of at most 8";
  constexpr int64_t kFarthestTap = 255;
  if ((problem.r - 1) * problem.dilation_h > kFarthestTap || (problem.s - 1) * problem.dilation_w > kFarthestTap) {
    return fmt::format("takes filters whose last pixel is at most {} from the first", kFarthestTap);
  }
  if (problem.pad_top > 128 || problem.pad_left > 128 || !PixelCorners(kernel_shape(problem)).fit()) {
    return "takes images whose outputs begin and end at most 128 pixels from the image's border";
  }
  return std::nullopt;
}

int64_t packed_elements(const ConvStep& step) {
  return checked_mul(step.problem.k, int64_t{plan_terms(conv_of(step)).slices} * kSliceTerms);
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(packed_elements(step), sizeof(__half)));
}

void prepare(const ConvArgs& args, Stream& stream) {
  const PixelPlan plan = plan_terms(conv_of(args.step));
  launch(pack_pixel_filters, {.grid = ceil_div(packed_elements(args.step), 256), .block = 256}, stream.native(), args.w,
         static_cast<__half*>(args.prepared), plan.box, plan.slices, plan.period, static_cast<int>(args.step.problem.c),
         plan.conv.shape);
}

void launch_step(const ConvArgs& args, Stream& stream) {
  launch_hopper_conv(begin_step<__half>(args, stream), stream.caps().multiprocessors, stream.native());
}

const RegisterConvKernel registered{{
    .info = kInfo,
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = [](const ConvStep& step, const DeviceCaps&) { return plain_copy_bytes<__half>(step); },
    .prepare = prepare,
    .launch = launch_step,
    .layout = Layout::channels_last,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab
