// cuda.igemm_dense: a dense layer in fp16 on tensor cores, as a convolution of images of one pixel (see igemm.cuh). Its input is
// rounded to float16 first; its output is float32. Refuses few columns, weights that are not constant, addends that
// are no rows, transposed inputs.

#include "convlab/kernels/gpu_channels/igemm_step.cuh"
#include "convlab/kernels/gpu_channels/plain_copies.cuh"
#include "convlab/kernels/op.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

/// A workspace is as large whatever the GPU: the sums are cut as for one of so many multiprocessors.
constexpr int kMultiprocessors = 132;
/// With fewer, the kernels of gpu_dense cut the sums into more parts.
constexpr int64_t kLeastColumns = 512;

Shape images_of(const OpStep& step) { return {step.inputs[0][0], step.inputs[0][1], 1, 1}; }

PixelConv conv_of(const OpStep& step) {
  const ConvProblem problem{.n = step.output[0], .c = round_up(step.inputs[0][1], 8), .k = step.output[1]};
  PixelConv conv{.shape = kernel_shape(problem), .groups = 1};
  conv.x_step = problem.c;
  conv.activation = step.activation;
  return conv;
}

IgemmPlan plan_of(const OpStep& step) {
  DeviceCaps caps;
  caps.multiprocessors = kMultiprocessors;
  return make_igemm_plan<HalfTerms>(conv_of(step).shape, 1, caps);
}

Refusal refuses(const OpStep& step) {
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  if (gemm == nullptr) return "computes dense layers only";
  if (step.constant.size() < 2 || !step.constant[1]) return "takes weights that are constant";
  if (step.output[1] < kLeastColumns) return fmt::format("takes {} columns or more", kLeastColumns);
  if (gemm->transpose_a || gemm->alpha != 1) return "takes no transposed inputs, and no factor";
  if (step.input_layout != Layout::plain || step.output_layout != Layout::plain) return "takes and gives plain arrays";
  if (element_count(step.output) == 0 || element_count(step.inputs[1]) == 0) return "takes no empty matrices";
  const bool row = step.inputs.size() < 3 || (gemm->beta == 1 && element_count(step.inputs[2]) == step.output[1] &&
                                              step.inputs[2].back() == step.output[1]);
  if (!row) return "adds a row, and nothing else";
  if (step.output[0] > 1 << 22 || element_count(step.inputs[1]) > int64_t{1} << 30) {
    return "takes at most 2^22 rows, and 2^30 weights";
  }
  return std::nullopt;
}

size_t prepared_bytes(const OpStep& step) {
  return igemm_weight_bytes<HalfTerms>(step.output[1], plan_of(step).cut.slices);
}

size_t workspace_bytes(const OpStep& step) {
  return channels_last_bytes<__half>(images_of(step)) + igemm_workspace<HalfTerms>(plan_of(step));
}

void prepare(const OpArgs& args, Stream& stream) {
  const bool transposed = std::get<GemmOp>(args.step.op).transpose_b;
  const int64_t maps = args.step.output[1], terms = args.step.inputs[0][1];
  pack_igemm_weights<HalfTerms>({.w = args.inputs[1],
                                 .map_step = transposed ? terms : 1,
                                 .channel_step = transposed ? 1 : maps,
                                 .taps = 1,
                                 .given = terms,
                                 .channels = round_up(terms, 8)},
                                maps, args.prepared, stream);
}

void launch_dense(const OpArgs& args, Stream& stream) {
  PixelConv conv = conv_of(args.step);
  auto* const copy = static_cast<__half*>(args.workspace);
  copy_to_channels_last(args.inputs[0], images_of(args.step), copy, stream);
  conv.x = copy;
  conv.w = args.prepared;
  conv.bias = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
  conv.plain = args.output;
  auto* const workspace =
      static_cast<unsigned char*>(args.workspace) + channels_last_bytes<__half>(images_of(args.step));
  launch_igemm<HalfTerms>(conv, plan_of(args.step), workspace, stream);
}

const RegisterOpKernel registered{{
    .info = {.name = "cuda.igemm_dense", .device = kCompiledFor, .math = Math::fp16, .rank = 2},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = launch_dense,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab
