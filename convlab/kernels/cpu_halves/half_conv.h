#pragma once

#include <cstddef>

#include "convlab/kernels/cpu/bf16.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

// Kernels for convolutions in bf16 nhwc bfloat16: one for each Bf16Unit. All use the same packed
// weights. Input images may also be nchw.

Refusal refuse_half_conv(const ConvStep& step);
size_t half_conv_prepared_bytes(const ConvStep& step);
size_t half_conv_workspace_bytes(const ConvStep& step, int threads);
void prepare_half_conv(const ConvArgs& args);
void launch_half_conv(const ConvArgs& args, Stream& stream, Bf16Unit unit);

template <Bf16Unit kUnit>
ConvKernel half_conv_kernel(const KernelInfo& info) {
  return {
      .info = info,
      .refuses =
          [](const ConvStep& step, const DeviceCaps&) {
            const Refusal absent = refuse_without(kUnit);
            return absent ? absent : refuse_half_conv(step);
          },
      .prepared_bytes = [](const ConvStep& step, const DeviceCaps&) { return half_conv_prepared_bytes(step); },
      .workspace_bytes = [](const ConvStep& step,
                            const DeviceCaps& caps) { return half_conv_workspace_bytes(step, caps.threads); },
      .prepare = [](const ConvArgs& args, Stream&) { prepare_half_conv(args); },
      .launch = [](const ConvArgs& args, Stream& stream) { launch_half_conv(args, stream, kUnit); },
      .absent = [] { return refuse_without(kUnit); },
      .format = kNhwcBf16,
      .packs_weights = true,
  };
}

}  // namespace convlab
