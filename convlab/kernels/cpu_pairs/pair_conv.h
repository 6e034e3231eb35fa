#pragma once

#include "convlab/kernels/cpu/bf16.h"
#include "convlab/kernels/cpu_pairs/pair_filters.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

// Kernels for convolutions in nchw16n2c (bf16, `nchw16n2c`) and nchw16n2c bf16x2 (bf16x2): one for
// each Bf16Unit. pair_conv.cc describes the method.

Refusal refuse_pairs(const ConvStep& step, Bf16Unit unit);
size_t pairs_prepared_bytes(const ConvStep& step, Math math);
size_t pairs_workspace_bytes(const ConvStep& step, const DeviceCaps& caps, Math math);
void launch_pairs(const ConvArgs& args, Stream& stream, Math math, Bf16Unit unit);

template <Math kMath, Bf16Unit kUnit>
ConvKernel pair_conv_kernel(const KernelInfo& info) {
  return {
      .info = info,
      .refuses = [](const ConvStep& step, const DeviceCaps&) { return refuse_pairs(step, kUnit); },
      .prepared_bytes = [](const ConvStep& step, const DeviceCaps&) { return pairs_prepared_bytes(step, kMath); },
      .workspace_bytes = [](const ConvStep& step,
                            const DeviceCaps& caps) { return pairs_workspace_bytes(step, caps, kMath); },
      .prepare = [](const ConvArgs& args, Stream&) { pack_filters(args, kMath); },
      .launch = [](const ConvArgs& args, Stream& stream) { launch_pairs(args, stream, kMath, kUnit); },
      .absent = [] { return refuse_without(kUnit); },
      .format = pairs_layout(kMath),
  };
}

}  // namespace convlab
