#pragma once

#include <cstddef>

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"

namespace convlab {

// Kernels for convolutions in bf16 nhwc bfloat16: one for each Bf16Unit. All use the same packed
// weights. Input images may also be nchw.

Refusal refuse_half_conv(const ConvStep& step);
size_t half_conv_prepared_bytes(const ConvStep& step, const DeviceCaps& caps);
size_t half_conv_workspace_bytes(const ConvStep& step, const DeviceCaps& caps);
void prepare_half_conv(const ConvArgs& args, Stream& stream);
void launch_half_conv(const ConvArgs& args, Stream& stream, Bf16Unit unit);

template <Bf16Unit kUnit>
Refusal refuse_half_conv_on(const ConvStep& step, const DeviceCaps&) {
  const Refusal absent = refuse_without(kUnit);
  return absent ? absent : refuse_half_conv(step);
}

template <Bf16Unit kUnit>
void launch_half_conv_on(const ConvArgs& args, Stream& stream) {
  launch_half_conv(args, stream, kUnit);
}

template <Bf16Unit kUnit>
Kernel half_conv_kernel(const KernelInfo& info) {
  return {
      .info = info,
      .refuses = of_conv<refuse_half_conv_on<kUnit>>,
      .prepared_bytes = of_conv<half_conv_prepared_bytes>,
      .workspace_bytes = of_conv<half_conv_workspace_bytes>,
      .prepare = of_conv<prepare_half_conv>,
      .launch = of_conv<launch_half_conv_on<kUnit>>,
      .absent = [] { return refuse_without(kUnit); },
      .format = kNhwcBf16,
      .packs_weights = true,
  };
}

}  // namespace convlab
