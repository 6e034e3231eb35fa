// cuda.igemm_fp16: the convolution of deep networks in fp16 on tensor cores, channels last (see igemm.cuh). Plain images, as a
// network's first layer is given, and plain images of one pixel are first copied to channels last, as many as are a multiple
// of 8.

#include <optional>

#include "convlab/kernels/gpu_channels/igemm_step.cuh"
#include "convlab/kernels/gpu_channels/plain_copies.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.igemm_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .rank = 85,
    .idea = "an implicit GEMM of channels last: 8 channels of a pixel are the 16 bytes that are copied and multiplied",
    .after = "cuda.tensor_core_fp16",
    .threads =
        "a block of 4 or 8 warps makes 64 or 128 output pixels of 32 to 128 maps; a warp 16 to 64 by 32 of these. All "
        "copy the next two slices of 64 terms while they multiply one. Where there are few tiles, each tile's sums are "
        "cut in parts, which a second kernel adds up in order.",
    .cost =
        "2 * terms() flops, terms rounded up to 64; a pixel's channels are copied from the second cache r * s times for "
        "every tile of maps, a filter once for every tile of pixels.",
    .refuses = "channels or maps of a group that are no multiple of 8, pooling, compute capabilities below 8.0.",
    .limit = "mma instructions and the copies that feed them: about 60 % of what wgmma reaches on Hopper.",
};

bool from_plain(const ConvStep& step) { return step.input_layout == Layout::plain; }

/// The step without addresses. Channels of plain images are rounded up.
PixelConv conv_of(const ConvStep& step) {
  PixelConv conv{.shape = kernel_shape(step.problem), .groups = static_cast<int>(step.problem.groups)};
  conv.x_step = step.input_step;
  if (from_plain(step)) {
    conv.shape.c = conv.shape.channels = static_cast<int>(round_up(step.problem.c, 8));
    conv.x_step = 0;
  }
  if (conv.x_step == 0) conv.x_step = conv.shape.c;
  conv.added_step = step.added_step != 0 ? step.added_step : step.problem.k;
  conv.y_step = step.output_step != 0 ? step.output_step : step.problem.k;
  conv.activation = step.epilogue.activation;
  return conv;
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (caps.kind == DeviceKind::cuda && caps.compute_capability < 80) {
    return "is made of instructions from compute capability 8.0 on";
  }
  if (step.epilogue.pool) return "does not pool";
  const Shape y = step.output_shape();
  const bool to_plain = step.output_layout == Layout::plain;
  if (from_plain(step)) {
    if (problem.groups != 1) return "takes one group of plain images";
  } else if (step.input_layout != Layout::channels_last || problem.channels_per_group() % 8 != 0) {
    return "takes plain images, or channels last, of a group a multiple of 8";
  }
  if (to_plain ? y[2] != 1 || y[3] != 1 || step.adds : step.output_layout != Layout::channels_last) {
    return "gives channels last, or plain images of one pixel";
  }
  if (!to_plain && problem.maps_per_group() % 8 != 0) return "takes maps of a group in multiples of 8";
  constexpr int64_t kMost = int64_t{1} << 31;
  if (problem.n * problem.p() * problem.q() >= kMost || problem.h * problem.w >= kMost ||
      problem.r * problem.s * round_up(problem.c, 8) >= kMost || problem.groups > 65535) {
    return "takes fewer than 2^31 pixels, and terms of a sum";
  }
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  const int64_t terms = step.problem.r * step.problem.s * conv_of(step).shape.channels;
  return static_cast<size_t>(checked_mul(checked_mul(step.problem.k, terms), sizeof(__half)));
}

size_t copy_bytes_of(const ConvStep& step) {
  return from_plain(step) ? channels_last_bytes(step.problem.input_shape()) : 0;
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  const PixelConv conv = conv_of(step);
  return copy_bytes_of(step) + make_igemm_plan(conv, caps).parts_bytes(conv);
}

void prepare(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const int64_t taps = problem.r * problem.s, given = problem.channels_per_group();
  pack_filters({.w = args.w, .map_step = given * taps, .channel_step = taps, .tap_step = 1}, problem.k, taps, given,
               static_cast<__half*>(args.prepared), stream);
}

void launch_step(const ConvArgs& args, Stream& stream) {
  const ConvStep& step = args.step;
  PixelConv conv = conv_of(step);
  auto* const workspace = static_cast<unsigned char*>(args.workspace);
  conv.x = static_cast<const __half*>(args.x);
  if (from_plain(step)) {
    auto* const copy = reinterpret_cast<__half*>(workspace);
    if (step.input == ElementType::u8) {
      copy_to_channels_last(static_cast<const uint8_t*>(args.x), step.problem.input_shape(), copy, stream);
    } else {
      copy_to_channels_last(static_cast<const float*>(args.x), step.problem.input_shape(), copy, stream);
    }
    conv.x = copy;
  }
  conv.w = args.prepared;
  conv.bias = step.epilogue.bias ? args.bias : nullptr;
  conv.added = step.adds ? reinterpret_cast<const __half*>(args.added) : nullptr;
  if (step.output_layout == Layout::plain) {
    conv.plain = args.y;
  } else {
    conv.y = reinterpret_cast<__half*>(args.y);
  }
  auto* const parts = reinterpret_cast<float*>(workspace + copy_bytes_of(step));
  launch_igemm(conv, make_igemm_plan(conv, stream.caps()), parts, stream);
}

const RegisterConvKernel registered{{
    .info = kInfo,
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = launch_step,
    .layout = Layout::channels_last,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab
