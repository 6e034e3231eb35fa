// cuda.nhwc_igemm_dense: fp16 dense layer on tensor cores, computed as a convolution of 1x1 images (see igemm.cuh).
// Rounds its input to fp16 first; its output is fp32. Not supported: few columns, weights that are not constant,
// addends that are not row vectors, and transposed A.

#include "convlab/kernels/cuda/nhwc/dense_halves.cuh"
#include "convlab/kernels/cuda/nhwc/igemm_step.cuh"
#include "convlab/kernels/cuda/nhwc/plain_copies.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

/// Number of multiprocessors that K is split for on every GPU, so that the workspace size does not depend on the GPU.
constexpr int kMultiprocessors = 132;

Shape images_of(const Step& step) { return {step.inputs[0].shape[0], step.inputs[0].shape[1], 1, 1}; }

PixelConvOf<__half> conv_of(const Step& step) {
  const ConvProblem problem{
      .n = step.outputs[0].shape[0], .c = round_up(step.inputs[0].shape[1], 8), .k = step.outputs[0].shape[1]};
  PixelConvOf<__half> conv{.shape = kernel_shape(problem), .groups = 1};
  conv.x_step = problem.c;
  conv.activation = step.epilogue.activation;
  return conv;
}

IgemmPlan plan_of(const Step& step) {
  DeviceCaps caps;
  caps.multiprocessors = kMultiprocessors;
  return make_igemm_plan<HalfTerms>(conv_of(step).shape, 1, caps);
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (const Refusal refusal = refuse_unless_wide_dense(step)) return refusal;
  if (step.outputs[0].shape[0] > 1 << 22) return "at most 2^22 rows are supported";
  return std::nullopt;
}

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  return channels_last_bytes<__half>(images_of(step)) + igemm_workspace<HalfTerms>(plan_of(step));
}

void launch_dense(const Args& args, Stream& stream) {
  PixelConvOf<__half> conv = conv_of(args.step);
  auto* const copy = static_cast<__half*>(args.workspace);
  copy_to_channels_last(args.input(0), images_of(args.step), copy, stream);
  conv.x = copy;
  conv.w = args.prepared;
  conv.bias = args.inputs.size() > 2 ? args.input(2) : nullptr;
  conv.plain = args.output();
  auto* const workspace =
      static_cast<unsigned char*>(args.workspace) + channels_last_bytes<__half>(images_of(args.step));
  launch_igemm<HalfTerms>(conv, plan_of(args.step), workspace, stream);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.nhwc_igemm_dense",
             .device = kCompiledFor,
             .family = Family::dense,
             .math = Math::fp16,
             .idea = "dense layer on tensor cores as a convolution of 1x1 images"},
    .refuses = refuses,
    .prepared_bytes = dense_weight_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = pack_dense_weights,
    .launch = launch_dense,
    .packs_weights = true,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab
