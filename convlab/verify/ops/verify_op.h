#pragma once

#include <string>
#include <vector>

#include "convlab/kernels/step.h"
#include "convlab/verify/compare.h"
#include "convlab/verify/verify.h"

namespace convlab {

/// Returns the steps to verify of a kernel on a problem, an operator in nchw without an epilogue: that step; if the
/// kernel has a format of its own, the same from that format, to it, and both; each with the activations that the
/// kernel fuses; and each with arrays that are parts of larger ones. Without `all`, only those that the kernel
/// supports; otherwise at least the first, so that an unsupported problem is reported.
std::vector<Step> op_steps_to_verify(const Kernel& kernel, const Step& problem, const DeviceCaps& caps, bool all);

/// Verifies one kernel on one step other than a convolution, as verify_kernel() does for convolutions:
///
///   refusal   an unsupported step is skipped, with the kernel's reason
///   integers  exact, where the operator's results are (see has_fill()), for two sets of inputs: prepare A, prepare B,
///             launch A, launch B, launch A
///   reals     within error_model(); a second launch has the same bits unless order-dependent
///   one NaN   NaN is where the operator's definition has it and nowhere else
CaseResult verify_op(const Kernel& kernel, const Step& step, Device& device);

/// Verifies one kernel on one step of any operator before it is timed: verify_few() or verify_op().
CaseResult verify_step(const Kernel& kernel, const Step& step, Device& device, Oracle& oracle);

/// Returns the inputs in the step's formats, from nchw.
std::vector<Tensor> packed_inputs(const Step& step, std::vector<Tensor> plain);

/// Returns "3 of 24 outputs are wrong; first: y[1][5][0]: expected 5, got 7 (tolerance 0.1)", for a verdict on
/// as_images() of an output of this shape.
std::string describe_wrong_output(const Verdict& verdict, const Shape& shape);

/// Returns "softmax_r64c1024 relu from nhwc bfloat16".
std::string describe(const Step& step);

}  // namespace convlab
