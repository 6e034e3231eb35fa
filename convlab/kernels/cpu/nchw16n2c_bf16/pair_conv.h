#pragma once

#include "convlab/kernels/conv_step.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_filters.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"

namespace convlab {

// Kernels for convolutions in nchw16n2c (bf16, `nchw16n2c`) and nchw16n2c bf16x2 (bf16x2): one for
// each Bf16Unit. pair_conv.cc describes the method.

Refusal refuse_pairs(const ConvStep& step, Bf16Unit unit);
size_t pairs_prepared_bytes(const ConvStep& step, Math math);
size_t pairs_workspace_bytes(const ConvStep& step, const DeviceCaps& caps, Math math);
void launch_pairs(const ConvArgs& args, Stream& stream, Math math, Bf16Unit unit);

template <Math kMath, Bf16Unit kUnit>
struct PairConv {
  static Refusal refuses(const ConvStep& step, const DeviceCaps&) { return refuse_pairs(step, kUnit); }
  static size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) { return pairs_prepared_bytes(step, kMath); }
  static size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
    return pairs_workspace_bytes(step, caps, kMath);
  }
  static void prepare(const ConvArgs& args, Stream&) { pack_filters(args, kMath); }
  static void launch(const ConvArgs& args, Stream& stream) { launch_pairs(args, stream, kMath, kUnit); }
};

template <Math kMath, Bf16Unit kUnit>
Kernel pair_conv_kernel(const KernelInfo& info) {
  using Conv = PairConv<kMath, kUnit>;
  return {
      .info = info,
      .refuses = of_conv<Conv::refuses>,
      .prepared_bytes = of_conv<Conv::prepared_bytes>,
      .workspace_bytes = of_conv<Conv::workspace_bytes>,
      .prepare = of_conv<Conv::prepare>,
      .launch = of_conv<Conv::launch>,
      .absent = [] { return refuse_without(kUnit); },
      .format = pairs_layout(kMath),
  };
}

}  // namespace convlab
