#include "convlab/kernels/first_layer/bytes_launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.first_layer_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .rank = 90,
    .idea = "raw pixels to pooled halves in one step, as the next layer's tensor cores read them",
    .threads =
        "a warp multiplies 8 cells of 2 x 4 sums, or 2 x 2, by the filters of up to 12 maps at a time; four lanes take "
        "a cell and go down the image with it; bytes.cuh has the picture.",
    .cost = "8 * terms() flops, in 1 / 1.92 of which (5x5) the filter is not 0; 2 bytes written.",
    .refuses =
        "anything but one channel of raw pixels, max-pooled 2x2, to channels in blocks; strides, dilation, groups, "
        "rows of more than 88 pixels, filters beyond 7x7.",
    .limit = "no single unit: tensor cores, maxima and issue slots are each busy half of the time.",
};

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (step.input != ElementType::u8) return "takes raw pixels only";
  if (step.output_layout != Layout::channel_blocks) return "gives channels in blocks only";
  if (!step.epilogue.pool) return "takes steps with pooling only";
  if (Refusal refusal = refuse_unless_first_layer(step, caps)) return refusal;
  const ConvProblem& problem = step.problem;
  if (std::max(problem.r, problem.s) > kWideFilter) return "takes filters of up to 7 rows and 7 columns";
  const ActivationKind kind = step.epilogue.activation.kind;
  if (kind == ActivationKind::sigmoid || kind == ActivationKind::clip) {
    return "takes activations that leave 0 what it is, which channels that do not exist are";
  }
  if (problem.k > 12 && problem.k % 8 > 0 && problem.k % 8 <= 4) {
    return "of more than 12 maps, takes numbers whose last block is of 8";
  }
  return std::nullopt;
}

template <int kRows, int kNeighbours, bool kTanh>
void launch_with_maps(const ConvArgs& args, Stream& stream) {
  const int64_t quarters = ceil_div(args.step.problem.k, 4);
  if (quarters == 1) return launch_bytes_layer<BytesLayer<kRows, kNeighbours, 1, kTanh>>(args, stream);
  if (quarters == 3) return launch_bytes_layer<BytesLayer<kRows, kNeighbours, 3, kTanh>>(args, stream);
  launch_bytes_layer<BytesLayer<kRows, kNeighbours, 2, kTanh>>(args, stream);
}

template <bool kTanh>
void launch_with_filters(const ConvArgs& args, Stream& stream) {
  const bool narrow = std::max(args.step.problem.r, args.step.problem.s) <= kNarrowFilter;
  if (narrow) return launch_with_maps<kNarrowFilter, 4, kTanh>(args, stream);
  launch_with_maps<kWideFilter, 2, kTanh>(args, stream);
}

void launch_first_layer_of_bytes(const ConvArgs& args, Stream& stream) {
  if (args.step.epilogue.activation.kind == ActivationKind::tanh) return launch_with_filters<true>(args, stream);
  launch_with_filters<false>(args, stream);
}

const RegisterConvKernel registered{{
    .info = kInfo,
    .refuses = refuses,
    .launch = launch_first_layer_of_bytes,
    .layout = Layout::channel_blocks,
}};

}  // namespace
}  // namespace convlab
