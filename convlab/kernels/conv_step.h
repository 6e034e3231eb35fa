#pragma once

#include "convlab/conv/epilogue.h"
#include "convlab/conv/problem.h"
#include "convlab/kernels/kernel.h"

namespace convlab {

/// A convolution and everything fused with it: a Step with a ConvOp as convolution kernels see it. Filters are always
/// fp32 KCRS and the bias fp32.
struct ConvStep {
  ConvProblem problem;
  Epilogue epilogue;
  Format input_format = kNchw, output_format = kNchw;
  /// Adds an array like the output after the bias (residual). Only in nchw8c float32 and nhwc, never with pooling.
  bool adds = false;
  /// If not 0, the array is part of a larger (concatenated) one: elements between images in nchw8c,
  /// between pixels in nhwc.
  int64_t input_step = 0, added_step = 0, output_step = 0;

  bool operator==(const ConvStep&) const = default;

  /// The shape of the step's output: after pooling if the epilogue pools.
  Shape output_shape() const;

  /// Returns the step, with inputs x, w and, if present, the bias and the array to add.
  operator Step() const;
};

bool is_conv(const Step& step);

/// Returns the convolution of a step for which is_conv().
ConvStep conv_step(const Step& step);

/// Args of a ConvStep.
struct ConvArgs {
  const ConvStep& step;
  const void* x = nullptr;
  const float* w = nullptr;
  const float* bias = nullptr;   ///< K floats, or nullptr unless epilogue.bias
  const float* added = nullptr;  ///< nullptr unless step.adds
  float* y = nullptr;
  void* prepared = nullptr;
  void* workspace = nullptr;
  PrefetchHint prefetch = {};
  std::span<const int> tuning = {};
};

ConvArgs conv_args(const Args& args, const ConvStep& step);

/// Calls a kernel's `launch` or `prepare` with a convolution's arguments. Does nothing if it is null.
void call(void (*function)(const Args&, Stream&), const ConvArgs& args, Stream& stream);

// Adapt functions that receive a ConvStep or ConvArgs to Kernel: `.launch = of_conv<launch_basic>`.

template <Refusal (*kRefuses)(const ConvStep&, const DeviceCaps&)>
Refusal of_conv(const Step& step, const DeviceCaps& caps) {
  if (!is_conv(step)) return "only convolutions are supported";
  return kRefuses(conv_step(step), caps);
}

template <size_t (*kBytes)(const ConvStep&, const DeviceCaps&)>
size_t of_conv(const Step& step, const DeviceCaps& caps) {
  return kBytes(conv_step(step), caps);
}

template <void (*kLaunch)(const ConvArgs&, Stream&)>
void of_conv(const Args& args, Stream& stream) {
  const ConvStep step = conv_step(args.step);
  kLaunch(conv_args(args, step), stream);
}

template <std::string (*kChoice)(const ConvStep&, Stream&)>
std::string of_conv(const Step& step, Stream& stream) {
  return kChoice(conv_step(step), stream);
}

/// Returns a reason unless the step is plain fp32 NCHW in and out, without an epilogue. Every ladder rung checks this.
Refusal refuse_unless_plain(const ConvStep& step);

}  // namespace convlab
