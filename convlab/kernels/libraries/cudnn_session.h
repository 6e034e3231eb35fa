#pragma once

#include <string>

#include "convlab/kernels/kernel.h"

namespace convlab::cudnn {

// What the kernels cudnn, cudnn.tf32 and cudnn.fp16 share: one way to have the library compute a step.

/// What an engine may use, and filters of NaN, by which engines are tried.
size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps);

/// Computes a step in plain arrays; or one in Layout::channels_last, where args.prepared holds float16: filters, KRSC,
/// and from element rounded_bias_at() on the bias.
void run(const ConvArgs& args, Stream& stream, Math math);
int64_t rounded_bias_at(const ConvProblem& problem);

/// "engine 12 with knobs 2=3 18=0 of cuDNN 9.19.0, searched for 31.2 ms"; "" before the first run.
std::string choice(const ConvStep& step, Stream& stream, Math math);

/// The refusal of the kernels of plain arrays.
Refusal refuse_unless_plain_arrays(const ConvStep& step, const DeviceCaps& caps);

}  // namespace convlab::cudnn
