// cuda.first_layer_fp16: raw pixels to pooled float16 in blocks of channels, one step; first_layer.cuh has the picture.
// Threads: a warp multiplies 16 squares of 2x2 sums by the filters of up to 12 maps at a time.
// Per output: 8 * terms() flops, in 1 / 1.875 of which (5x5) the filter is not 0; 2 bytes written.
// Refuses: all but one channel of raw pixels, max-pooled 2x2, to channels in blocks; strides, dilation, groups, rows of
//   more than 88 pixels, filters beyond 7x7.
// Limited now by instructions: addresses, maxima and activations beside the products.

#include "convlab/kernels/conv/first_layer_launch.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

using Layer = FirstLayer<uint8_t, 1, true, true>;

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  if (step.input != ElementType::u8) return "takes raw pixels only";
  if (step.output_layout != Layout::channel_blocks) return "gives channels in blocks only";
  if (!step.epilogue.pool) return "takes steps with pooling only";
  if (Refusal refusal = refuse_unless_first_layer(step, caps)) return refusal;
  const ActivationKind kind = step.epilogue.activation.kind;
  if (kind == ActivationKind::sigmoid || kind == ActivationKind::clip) {
    return "takes activations that leave 0 what it is, which channels that do not exist are";
  }
  const int64_t k = step.problem.k;
  if (k > 12 && k % 8 > 0 && k % 8 <= 4) return "of more than 12 maps, takes numbers whose last block is of 8";
  return refuse_without_room<Layer>(step, caps);
}

const RegisterConvKernel registered{{
    .info = {.name = "cuda.first_layer_fp16",
             .device = kCompiledFor,
             .math = Math::fp16,
             .repeat = Repeat::bitwise,
             .sum = Sum::direct,
             .rung = 19,
             .idea = "raw pixels to pooled halves in one step, as the next layer's tensor cores read them",
             .after = ""},
    .refuses = refuses,
    .launch = launch_first_layer<Layer>,
    .tunables = kFirstLayerTunables,
    .layout = Layout::channel_blocks,
}};

}  // namespace
}  // namespace convlab
