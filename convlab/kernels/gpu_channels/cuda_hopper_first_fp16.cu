// cuda.hopper_first_fp16: a network's first layer in fp16 for compute capability 9.0, from plain images, of numbers or bytes, to
// channels last: folded (see first_fold.cuh), then as cuda.hopper_igemm_fp16 computes any other.

#include <optional>

#include <fmt/core.h>

#include "convlab/kernels/gpu_channels/first_fold.cuh"
#include "convlab/kernels/gpu_channels/hopper_step.cuh"
#include "convlab/kernels/gpu_channels/pixel_step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.hopper_first_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .sum = Sum::transform,
    .rung = kProductionRung,
    .rank = 92,
    .idea = "pixels of a stride, or a filter's columns, become channels: fewer terms are zeros",
    .after = "cuda.hopper_igemm_fp16",
    .threads = "a thread makes 8 channels of a folded pixel; then as cuda.hopper_igemm_fp16.",
    .cost =
        "2 flops for each tap and channel of the folded filter, channels rounded up to 16; images are written once "
        "more.",
    .refuses =
        "images that are not plain, groups, dilation with strides, more than 64 folded channels, pooling, GPUs other "
        "than "
        "of compute capability 9.0.",
    .limit = "writing results; then the copy of the images.",
};

constexpr int64_t kMostChannels = 64;

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (!runs_on_hopper(caps)) return "is made of instructions that only compute capability 9.0 has";
  if (step.epilogue.pool) return "does not pool";
  if (step.input_layout != Layout::plain) return "takes plain images";
  if (step.output_layout != Layout::channels_last || problem.k % 8 != 0) return "gives channels last in multiples of 8";
  if (problem.groups != 1) return "takes one group only";
  constexpr int64_t kMost = int64_t{1} << 30;
  if (problem.n * problem.p() * problem.q() > kMost || problem.n * problem.h * problem.w > kMost ||
      problem.terms() > kMost || problem.k > kMost) {
    return fmt::format("takes at most {} pixels, maps, and terms of a sum", kMost);
  }
  if (!problem.unit_stride() && !problem.unit_dilation()) return "takes no dilation with strides";
  const FirstFold fold = fold_of(problem);
  if (problem.c * fold.of_channel() > kMostChannels) {
    return fmt::format("takes at most {} channels, as many as there are in a stride's pixels or a filter's columns",
                       kMostChannels);
  }
  constexpr int kFarthestTap = 255;
  const ConvShape& shape = fold.folded;
  if ((shape.r - 1) * shape.dilation_h > kFarthestTap || shape.s - 1 > kFarthestTap) {
    return fmt::format("takes filters whose last pixel is at most {} from the first", kFarthestTap);
  }
  if (shape.pad_top > 128 || shape.pad_left > 128 || !PixelCorners(shape).fit()) {
    return "takes images whose outputs begin and end at most 128 pixels from the image's border";
  }
  return std::nullopt;
}

PixelConv conv_of(const ConvStep& step, const FirstFold& fold) {
  PixelConv conv = conv_of_step<__half>(step);
  conv.shape = fold.folded;
  conv.x_step = fold.folded.c;
  return conv;
}

/// What is prepared: filters as they are multiplied and, behind these, as they are folded.
struct Filters {
  PixelPlan plan;
  int64_t packed, folded;  ///< elements

  Filters(const ConvStep& step, const FirstFold& fold) : plan(plan_terms(conv_of(step, fold))) {
    const ConvShape& shape = fold.folded;
    packed = checked_product({shape.k, plan.slices, kSliceTerms});
    folded = checked_product({shape.k, shape.c, shape.r, shape.s});
  }
};

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  const Filters filters(step, fold_of(step.problem));
  return static_cast<size_t>(filters.packed) * sizeof(__half) + static_cast<size_t>(filters.folded) * sizeof(float);
}

void prepare(const ConvArgs& args, Stream& stream) {
  const FirstFold fold = fold_of(args.step.problem);
  const Filters filters(args.step, fold);
  auto* const packed = static_cast<__half*>(args.prepared);
  auto* const folded = reinterpret_cast<float*>(packed + filters.packed);
  launch(fold_filters, {.grid = ceil_div(filters.folded, kFoldThreads), .block = kFoldThreads}, stream.native(), args.w,
         folded, fold);
  const PixelPlan& plan = filters.plan;
  launch(pack_pixel_filters, {.grid = ceil_div(filters.packed, 256), .block = 256}, stream.native(),
         static_cast<const float*>(folded), packed, plan.box, plan.slices, plan.period, fold.folded.c, fold.folded);
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
  const ConvShape shape = fold_of(step.problem).folded;
  return static_cast<size_t>(checked_product({shape.n, shape.h, shape.w, shape.c, sizeof(__half)}));
}

void launch_first(const ConvArgs& args, Stream& stream) {
  const ConvStep& step = args.step;
  const FirstFold fold = fold_of(step.problem);
  const ConvShape& shape = fold.folded;
  auto* const images = static_cast<__half*>(args.workspace);
  const int64_t count = checked_product({shape.n, shape.h, shape.w, shape.c / 8});
  const LaunchShape blocks{.grid = ceil_div(count, kFoldThreads), .block = kFoldThreads};
  if (step.input == ElementType::u8) {
    launch(fold_images<uint8_t>, blocks, stream.native(), static_cast<const uint8_t*>(args.x), images, fold, count);
  } else {
    launch(fold_images<float>, blocks, stream.native(), static_cast<const float*>(args.x), images, fold, count);
  }
  PixelConv conv = conv_of(step, fold);
  set_addresses(args, conv);
  conv.x = images;
  launch_hopper_conv(conv, stream.caps().multiprocessors, stream.native());
}

const RegisterConvKernel registered{{
    .info = kInfo,
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = launch_first,
    .layout = Layout::channels_last,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab
