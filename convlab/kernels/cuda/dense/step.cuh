#pragma once

// Host side of the dense layers that pack their weights.

#include "convlab/kernels/cuda/dense/parts.cuh"
#include "convlab/kernels/kernel.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

/// Returns why none of these kernels supports a step; nullopt if they may.
inline Refusal refuse_unless_packable(const Step& step) {
  const auto* gemm = std::get_if<GemmOp>(&step.op);
  if (gemm == nullptr) return "only dense layers (Gemm) are supported";
  if (step.inputs.size() < 2 || !step.inputs[1].constant) return "weights must be constant";
  if (gemm->transpose_a) return "transposed A is not supported";
  if (element_count(step.outputs[0].shape) == 0 || element_count(step.inputs[1].shape) == 0)
    return "empty matrices are not supported";
  if (step.outputs[0].shape[0] > 1 << 22 || element_count(step.inputs[1].shape) > int64_t{1} << 30) {
    return "at most 2^22 rows and 2^30 weights are supported";
  }
  return std::nullopt;
}

inline int64_t terms_of(const Step& step) { return step.inputs[0].shape[1]; }

inline DenseWeights weights_of(const Args& args) {
  const Shape& shape = args.step.inputs[1].shape;
  const bool transposed = std::get<GemmOp>(args.step.op).transpose_b;
  return {.data = args.input(1),
          .term_stride = transposed ? 1 : shape[1],
          .column_stride = transposed ? shape[1] : 1,
          .columns = args.step.outputs[0].shape[1]};
}

/// Packed weights, followed by the inverse scales of the columns.
struct PackedWeights {
  int64_t slices, halves, columns;

  PackedWeights(const Step& step, int64_t slices_) : slices(slices_), columns(step.outputs[0].shape[1]) {
    halves = checked_product({ceil_div(columns, kDenseColumns), slices, kSliceElements});
  }
  size_t bytes() const { return static_cast<size_t>(halves) * sizeof(__half) + static_cast<size_t>(columns) * 4; }
  __half* packed(const Args& args) const { return static_cast<__half*>(args.prepared); }
  float* undo(const Args& args) const { return reinterpret_cast<float*>(packed(args) + halves); }

  /// kSplit: packs large and small fp16 parts; columns that they cannot represent get a NaN scale.
  template <bool kSplit>
  void pack(const Args& args, const TermOrder& order, Stream& stream) const {
    launch(measure_columns<kSplit>, {.grid = columns, .block = 256}, stream.native(), weights_of(args), order.terms,
           undo(args));
    launch(pack_weights<kSplit>, {.grid = std::min<int64_t>(ceil_div(halves, 256), 4096), .block = 256},
           stream.native(), weights_of(args), order, undo(args), slices, halves, packed(args));
  }
};

/// Returns the bytes of the parts of a product.
inline size_t parts_bytes(const DenseCut& cut) {
  return static_cast<size_t>(cut.parts() * cut.part_elements()) * sizeof(float);
}

/// Launches the kernel that adds the parts in the step's workspace and finishes the sums.
template <bool kSplit>
void finish_dense(const Args& args, const DenseCut& cut, const float* undo, Stream& stream) {
  const auto& op = std::get<GemmOp>(args.step.op);
  DenseFinish finish{.undo = undo, .alpha = op.alpha, .beta = op.beta, .activation = args.step.epilogue.activation};
  if (args.inputs.size() > 2) {  // a scalar, a row, a column or a whole matrix
    const Shape& shape = args.step.inputs[2].shape;
    const int64_t columns = shape.empty() ? 1 : shape.back(), rows = shape.size() < 2 ? 1 : shape[0];
    finish.addend = args.input(2);
    finish.addend_row_stride = rows == 1 ? 0 : columns;
    finish.addend_column_stride = columns == 1 ? 0 : 1;
  }
  const auto* parts = static_cast<const float*>(args.workspace);
  constexpr int kMany = 8;
  if (cut.teams > kMany * cut.tiles()) {
    launch(add_parts<kSplit, true>, {.grid = {cut.tiles(), cut.groups(), kDenseColumns / 8}, .block = kAddingThreads},
           stream.native(), parts, cut, finish, args.input(0), weights_of(args), terms_of(args.step), args.output());
  } else {
    launch(add_parts<kSplit, false>, {.grid = {cut.tiles(), cut.groups()}, .block = kAddingThreads}, stream.native(),
           parts, cut, finish, args.input(0), weights_of(args), terms_of(args.step), args.output());
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
