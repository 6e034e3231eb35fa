// Convolves one uint8 input channel on tensor cores, to pooled fp16 in blocks of channels (nchw8c).

#include "convlab/kernels/cuda/first_layer/bytes_launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.first_layer_fp16",
    .device = kCompiledFor,
    .math = Math::fp16,
    .rung = kProductionRung,
    .idea = "uint8 pixels to pooled fp16 in one step, in the layout that the next layer's tensor cores read",
    .threads =
        "A warp multiplies 8 cells of 2x4 or 2x2 sums by the filters of up to 12 output channels at a time; four lanes "
        "take a cell and move down the image with it (see bytes.cuh).",
    .cost = "8 * C * R * S flops; 1 / 1.92 of them (for 5x5) have a nonzero filter value; 2 bytes written.",
    .refuses =
        "Anything but one uint8 input channel with fused 2x2 max pooling and output in blocks of channels; strides, "
        "dilation, groups, rows of more than 88 pixels, and filters larger than 7x7.",
    .limit = "No single unit: tensor cores, maxima and issue slots are each busy half of the time.",
};

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (step.input_format != kRawPixels) return "input must be uint8";
  if (step.output_format != kNchw8cF16) return "output must be nchw8c float16";
  if (!step.epilogue.pool) return "fused pooling is required";
  if (Refusal refusal = refuse_unless_first_layer(step, caps)) return refusal;
  const ConvProblem& problem = step.problem;
  if (std::max(problem.r, problem.s) > kWideFilter) return "filter must be at most 7x7";
  const ActivationKind kind = step.epilogue.activation.kind;
  if (kind == ActivationKind::sigmoid || kind == ActivationKind::clip) {
    return "activation must map 0 to 0, because padded channels are 0";
  }
  if (problem.k > 12 && problem.k % 8 > 0 && problem.k % 8 <= 4) {
    return "with more than 12 output channels, the last block of 8 must have more than 4 channels";
  }
  return std::nullopt;
}

template <int kRows, int kNeighbors, bool kTanh>
void launch_with_maps(const ConvArgs& args, Stream& stream) {
  const int64_t quarters = ceil_div(args.step.problem.k, 4);
  if (quarters == 1) return launch_bytes_layer<BytesLayer<kRows, kNeighbors, 1, kTanh>>(args, stream);
  if (quarters == 3) return launch_bytes_layer<BytesLayer<kRows, kNeighbors, 3, kTanh>>(args, stream);
  launch_bytes_layer<BytesLayer<kRows, kNeighbors, 2, kTanh>>(args, stream);
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

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .launch = of_conv<launch_first_layer_of_bytes>,
    .format = kNchw8cF16,
}};

}  // namespace
}  // namespace convlab
