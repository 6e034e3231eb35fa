#pragma once

#include <string>

#include "convlab/kernels/conv_step.h"

namespace convlab::cudnn {

// Shared by the kernels cudnn, cudnn.tf32 and cudnn.fp16: computes a step with the library.

/// Workspace bytes: for an engine, and for the NaN filters with which engines are tested.
size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps);

/// Computes a step in nchw; or in fp16 nhwc float16, with args.prepared holding fp16: KRSC filters
/// and, from element rounded_bias_at() on, the bias.
void run(const ConvArgs& args, Stream& stream, Math math);
int64_t rounded_bias_at(const ConvProblem& problem);

/// Returns "engine 12 with knobs 2=3 18=0 of cuDNN 9.19.0, searched for 31.2 ms"; "" before the first run.
std::string choice(const ConvStep& step, Stream& stream, Math math);

template <Math kMath>
void run(const ConvArgs& args, Stream& stream) {
  run(args, stream, kMath);
}

template <Math kMath>
std::string choice(const ConvStep& step, Stream& stream) {
  return choice(step, stream, kMath);
}

/// Returns why the nchw kernels do not support a step.
Refusal refuse_unless_plain_arrays(const ConvStep& step, const DeviceCaps& caps);

}  // namespace convlab::cudnn
