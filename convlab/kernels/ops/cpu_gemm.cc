// cpu.gemm: computes alpha * A' * B' + beta * C with no constant operand, so B is packed at every launch.
// Threads: those of gemm() in convlab/kernels/cpu/gemm/gemm.h, which does the work.
// Supports every case of its operator. Dense layers, where B is constant, use cpu.dense.
// Limited by fused multiply-adds for large m, by packing for small m.

#include "convlab/kernels/cpu/gemm/gemm.h"

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/cpu_broadcast.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_gemm {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<GemmOp>(step.op)) return "only Gemm is supported";
  return std::nullopt;
}

struct Sizes {
  int64_t m, n, k;
  int64_t packed, transposed, scratch;  ///< floats in the workspace's three parts
};

Sizes sizes_of(const Step& step) {
  constexpr int64_t kAlignment = 16;
  const auto& op = std::get<GemmOp>(step.op);
  const int64_t m = step.outputs[0].shape[0], n = step.outputs[0].shape[1],
                k = step.inputs[0].shape[op.transpose_a ? 0 : 1];
  return {.m = m,
          .n = n,
          .k = k,
          .packed = round_up(packed_b_count(k, n), kAlignment),
          .transposed = op.transpose_a ? round_up(m * k, kAlignment) : 0,
          .scratch = gemm_workspace_count(m, n, k)};
}

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const Sizes sizes = sizes_of(step);
  return static_cast<size_t>(sizes.packed + sizes.transposed + sizes.scratch) * sizeof(float);
}

void launch(const Args& args, Stream& stream) {
  const auto& op = std::get<GemmOp>(args.step.op);
  const Sizes sizes = sizes_of(args.step);
  ThreadPool& threads = *stream.threads();
  float* packed = static_cast<float*>(args.workspace);
  float* transposed = packed + sizes.packed;
  pack_b(args.input(1), sizes.k, sizes.n, op.transpose_b, op.alpha, packed, threads);
  if (op.transpose_a) {
    threads.parallel_for(sizes.m, 8, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t j = 0; j < sizes.k; ++j) transposed[i * sizes.k + j] = args.input(0)[j * sizes.m + i];
      }
    });
  }
  Gemm product{.m = sizes.m,
               .n = sizes.n,
               .k = sizes.k,
               .a = op.transpose_a ? transposed : args.input(0),
               .b = {packed},
               .c = args.output(),
               .finish = {.activation = args.step.epilogue.activation}};
  if (args.inputs.size() > 2) {
    const std::vector<int64_t> strides = broadcast_strides(args.step.inputs[2].shape, args.step.outputs[0].shape);
    product.finish.addend = args.input(2);
    product.finish.row_stride = strides[0];
    product.finish.column_stride = strides[1];
    product.finish.scale = op.beta;
  }
  gemm(product, transposed + sizes.transposed, threads);
}

const RegisterKernel registered{{
    .info = {.name = "cpu.gemm",
             .device = DeviceKind::cpu,
             .family = Family::dense,
             .idea =
                 "matrix product without a constant operand: packs B at every launch, then multiplies register tiles"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab::cpu_gemm
