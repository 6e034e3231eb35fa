// cpu.dense: alpha * A' * B' + beta * C with fused activation; B is constant and packed once. See gemm.h.
// cpu.dense_bf16: same with B stored as bf16, because reading B takes most of the time with few images. If the
// processor has AVX512-BF16 or AMX, A is rounded to bf16, too, and one instruction multiplies pairs, or tiles.

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_dense {
namespace {

/// Gemm and MatMul in one form: the batch of a MatMul becomes rows.
struct Dense {
  int64_t m = 0, n = 0, k = 0;
  float alpha = 1, beta = 0;
  bool transpose_a = false, transpose_b = false;
};

Dense dense_of(const Step& step) {
  Dense dense;
  if (const auto* gemm = std::get_if<GemmOp>(&step.op)) {
    dense = {.alpha = gemm->alpha,
             .beta = step.inputs.size() > 2 ? gemm->beta : 0,
             .transpose_a = gemm->transpose_a,
             .transpose_b = gemm->transpose_b};
  }
  dense.n = step.outputs[0].shape.back();
  dense.k = step.inputs[1].shape[dense.transpose_b ? 1 : 0];
  dense.m = element_count(step.outputs[0].shape) / dense.n;
  return dense;
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<GemmOp>(step.op) && !std::holds_alternative<MatMulOp>(step.op)) {
    return "only Gemm and MatMul are supported";
  }
  if (step.inputs.size() < 2 || !step.inputs[1].constant) return "weights must be constant";
  if (step.inputs[1].shape.size() != 2 || step.inputs[0].shape.size() < 2) {
    return fmt::format("weights must be 2-dimensional and the input at least 2-dimensional, got {} and {}",
                       to_text(step.inputs[1].shape), to_text(step.inputs[0].shape));
  }
  if (element_count(step.outputs[0].shape) == 0 || element_count(step.inputs[1].shape) == 0)
    return "empty matrices are not supported";
  return std::nullopt;
}

/// Header before the packed weights.
struct alignas(64) Prepared {
  PackedAs as;

  void* weights() { return this + 1; }
};

template <auto kCount, class Number>
size_t prepared_bytes(const Step& step, const DeviceCaps&) {
  const Dense dense = dense_of(step);
  return static_cast<size_t>(checked_add(checked_mul(kCount(dense.k, dense.n), sizeof(Number)), sizeof(Prepared)));
}

template <auto kPack, class Number>
void prepare(const Args& args, Stream& stream) {
  const Dense dense = dense_of(args.step);
  auto* const prepared = static_cast<Prepared*>(args.prepared);
  prepared->as = kPack(args.input(1), dense.k, dense.n, dense.transpose_b, dense.alpha,
                       static_cast<Number*>(prepared->weights()), *stream.threads())
                     .as;
}

/// The transposed A, if needed, follows gemm()'s scratch.
template <auto kScratch>
size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const Dense dense = dense_of(step);
  const int64_t transposed = dense.transpose_a ? checked_mul(dense.m, dense.k) : 0;
  return static_cast<size_t>(checked_mul(checked_add(transposed, kScratch(dense.m, dense.n, dense.k)), sizeof(float)));
}

template <auto kScratch>
void launch(const Args& args, Stream& stream) {
  const Dense dense = dense_of(args.step);
  auto* const prepared = static_cast<Prepared*>(args.prepared);
  Gemm gemm_args{.m = dense.m,
                 .n = dense.n,
                 .k = dense.k,
                 .a = args.input(0),
                 .b = {prepared->weights(), prepared->as},
                 .c = args.output(),
                 .backwards = args.turn % 2 != 0};
  auto* const workspace = static_cast<float*>(args.workspace);
  if (dense.transpose_a) {
    float* const rows = workspace + kScratch(dense.m, dense.n, dense.k);
    for (int64_t i = 0; i < dense.m; ++i) {
      for (int64_t k = 0; k < dense.k; ++k) rows[i * dense.k + k] = gemm_args.a[k * dense.m + i];
    }
    gemm_args.a = rows;
  }
  gemm_args.finish.activation = args.step.epilogue.activation;
  if (dense.beta != 0) {
    // C is broadcast to m x n, with its dimensions aligned to the right.
    const Shape& shape = args.step.inputs[2].shape;
    gemm_args.finish.addend = args.input(2);
    gemm_args.finish.scale = dense.beta;
    gemm_args.finish.column_stride = !shape.empty() && shape.back() != 1 ? 1 : 0;
    if (shape.size() == 2 && shape[0] != 1) gemm_args.finish.row_stride = shape[1];
  }
  gemm(gemm_args, workspace, *stream.threads());
}

int64_t float_scratch(int64_t m, int64_t n, int64_t k) { return gemm_workspace_count(m, n, k, PackedAs::f32); }

// For bf16, packed as is fastest on this machine.
int64_t bf16_scratch(int64_t m, int64_t n, int64_t k) { return gemm_workspace_count(m, n, k, bf16_of_machine()); }
int64_t bf16_count(int64_t k, int64_t n) { return packed_bf16_count(k, n, bf16_of_machine()); }
PackedB pack_bf16(const float* b, int64_t k, int64_t n, bool transposed, float scale, uint16_t* packed,
                  ThreadPool& threads) {
  return pack_b_bf16(b, k, n, transposed, scale, bf16_of_machine(), packed, threads);
}

const RegisterKernel dense{{
    .info = {.name = "cpu.dense",
             .device = DeviceKind::cpu,
             .family = Family::dense,
             .idea = "dense layer: weights packed once into panels, then a matrix product in register tiles"},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes<packed_b_count, float>,
    .workspace_bytes = workspace_bytes<float_scratch>,
    .prepare = prepare<pack_b_small, float>,
    .launch = launch<float_scratch>,
    .packs_weights = true,
    .fuses_activation = true,
}};

const RegisterKernel dense_bf16{{
    .info = {.name = "cpu.dense_bf16",
             .device = DeviceKind::cpu,
             .family = Family::dense,
             .math = Math::bf16,
             .idea = "weights in bf16, half the bytes to read; AVX512-BF16 or AMX multiplies where present",
             .after = "cpu.dense"},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes<bf16_count, uint16_t>,
    .workspace_bytes = workspace_bytes<bf16_scratch>,
    .prepare = prepare<pack_bf16, uint16_t>,
    .launch = launch<bf16_scratch>,
    .packs_weights = true,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab::cpu_dense
