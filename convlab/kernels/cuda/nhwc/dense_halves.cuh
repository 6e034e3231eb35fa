#pragma once

// Shared by the fp16 dense layers with many columns: supported steps, and weights packed as in igemm_weights.cuh with
// an output channel for each column, so that a column is a row of fp16 values.

#include <fmt/core.h>

#include "convlab/base/checked.h"
#include "convlab/kernels/cuda/nhwc/igemm_terms.cuh"
#include "convlab/kernels/cuda/nhwc/igemm_weights.cuh"
#include "convlab/kernels/kernel.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {  // each file that includes this has its own kernels

inline Refusal refuse_unless_wide_dense(const Step& step) {
  constexpr int64_t kLeastColumns = 512;  // with fewer, the kernels of cuda/dense split K into more parts
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  if (gemm == nullptr) return "only dense layers (Gemm) are supported";
  if (step.inputs.size() < 2 || !step.inputs[1].constant) return "weights must be constant";
  if (step.outputs[0].shape[1] < kLeastColumns)
    return fmt::format("at least {} output columns are required", kLeastColumns);
  if (gemm->transpose_a || gemm->alpha != 1) return "transposed A and alpha other than 1 are not supported";
  if (step.inputs[0].format.order != Order::nchw || step.outputs[0].format.order != Order::nchw) {
    return "input and output must be row-major";
  }
  if (element_count(step.outputs[0].shape) == 0 || element_count(step.inputs[1].shape) == 0)
    return "empty matrices are not supported";
  const bool row =
      step.inputs.size() < 3 || (gemm->beta == 1 && element_count(step.inputs[2].shape) == step.outputs[0].shape[1] &&
                                 step.inputs[2].shape.back() == step.outputs[0].shape[1]);
  if (!row) return "C must be a row vector and beta must be 1";
  if (element_count(step.inputs[1].shape) > int64_t{1} << 30) return "at most 2^30 weights are supported";
  return std::nullopt;
}

/// Returns the K slices of a column.
inline int64_t dense_slices(const Step& step) {
  return ceil_div(round_up(step.inputs[0].shape[1], 8), HalfTerms::kSlice);
}

inline size_t dense_weight_bytes(const Step& step, const DeviceCaps&) {
  return igemm_weight_bytes<HalfTerms>(step.outputs[0].shape[1], dense_slices(step));
}

inline void pack_dense_weights(const Args& args, Stream& stream) {
  const bool transposed = std::get<GemmOp>(args.step.op).transpose_b;
  const int64_t columns = args.step.outputs[0].shape[1], terms = args.step.inputs[0].shape[1];
  pack_igemm_weights<HalfTerms>({.w = args.input(1),
                                 .map_step = transposed ? terms : 1,
                                 .channel_step = transposed ? 1 : columns,
                                 .taps = 1,
                                 .given = terms,
                                 .channels = round_up(terms, 8)},
                                columns, args.prepared, stream);
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
