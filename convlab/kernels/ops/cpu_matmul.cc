// cpu.matmul: computes NumPy's matmul: matrix products over the last two dimensions, broadcast over all others.
// Threads: those of gemm() in convlab/kernels/cpu/gemm/gemm.h, one product after another. Consecutive products with the
// same matrix B are merged into one with more rows; this is always the case if B has no other dimensions.
// Supports every case of its operator.
// Limited by fused multiply-adds for large matrices, by packing B for small ones.

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/gemm/gemm.h"
#include "convlab/kernels/ops/matrix_products.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_matmul {
namespace {

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (!std::holds_alternative<MatMulOp>(step.op)) return "only MatMul is supported";
  return std::nullopt;
}

int64_t packed_count(const MatrixProducts& products) {
  constexpr int64_t kAlignment = 16;
  return round_up(packed_b_count(products.k, products.n), kAlignment);
}

size_t workspace_bytes(const Step& step, const DeviceCaps&) {
  const MatrixProducts products(step.inputs[0].shape, step.inputs[1].shape, step.outputs[0].shape);
  return static_cast<size_t>(packed_count(products) + gemm_workspace_count(products.m, products.n, products.k)) *
         sizeof(float);
}

void launch(const Args& args, Stream& stream) {
  const MatrixProducts products(args.step.inputs[0].shape, args.step.inputs[1].shape, args.step.outputs[0].shape);
  float* packed = static_cast<float*>(args.workspace);
  const float* packed_from = nullptr;
  for (int64_t i = 0; i < element_count(products.batch); ++i) {
    const auto [a, b] = products.operands(i);
    const float* matrix = args.input(1) + b * products.k * products.n;
    if (matrix != packed_from) {
      pack_b(matrix, products.k, products.n, false, 1, packed, *stream.threads());
      packed_from = matrix;
    }
    gemm({.m = products.m,
          .n = products.n,
          .k = products.k,
          .a = args.input(0) + a * products.m * products.k,
          .b = {packed},
          .c = args.output() + i * products.m * products.n},
         packed + packed_count(products), *stream.threads());
  }
}

const RegisterKernel registered{{
    .info = {.name = "cpu.matmul",
             .device = DeviceKind::cpu,
             .family = Family::dense,
             .idea = "batched matrix products; consecutive ones with the same B become one product with more rows"},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab::cpu_matmul
