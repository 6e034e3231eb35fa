// cpu.matmul: NumPy's matmul: matrix products over the last two dimensions, all others broadcast.
// Threads: those of gemm() in convlab/kernels/cpu_gemm/gemm.h, one product after the other. Where one matrix B serves
// neighbouring products, as it always does if it has no other dimensions, they are one product with more rows.
// Refuses nothing of its operator.
// Limited by fused multiply-adds where matrices are large, by packing B where they are small.

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu_gemm/gemm.h"
#include "convlab/kernels/ops/cpu_broadcast.h"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

Refusal refuses(const OpStep& step) {
  if (!std::holds_alternative<MatMulOp>(step.op)) return "computes MatMul";
  return std::nullopt;
}

/// The products as two-dimensional ones: A[i] is m x k, B[i] is k x n, for each i of `batch`, which is a shape.
struct Products {
  int64_t m, n, k;
  Shape batch;
  std::vector<int64_t> a_strides, b_strides;  ///< by dimension of `batch`, in matrices
};

Products products_of(const OpStep& step) {
  Shape a = step.inputs[0], b = step.inputs[1];
  Shape batch = step.output;
  if (a.size() == 1) {
    a.insert(a.begin(), 1);
  } else {
    batch.erase(batch.end() - (b.size() == 1 ? 1 : 2));
  }
  if (b.size() == 1) {
    b.push_back(1);
  } else {
    batch.pop_back();
  }
  Products products{.m = a[a.size() - 2], .n = b.back(), .k = a.back(), .batch = batch};
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  products.a_strides = broadcast_strides(a, batch);
  products.b_strides = broadcast_strides(b, batch);
  int64_t width = 1;
  while (!products.batch.empty() && products.b_strides.back() == 0 &&
         (products.a_strides.back() == width || products.batch.back() == 1)) {
    width *= products.batch.back();
    products.batch.pop_back();
    products.a_strides.pop_back();
    products.b_strides.pop_back();
  }
  // What is left of A's strides still counts matrices of the old m rows.
  for (int64_t& stride : products.a_strides) stride = stride / width;
  products.m *= width;
  return products;
}

int64_t packed_count(const Products& products) {
  constexpr int64_t kAlignment = 16;
  return round_up(packed_b_count(products.k, products.n), kAlignment);
}

size_t workspace_bytes(const OpStep& step) {
  const Products products = products_of(step);
  return static_cast<size_t>(packed_count(products) + gemm_workspace_count(products.m, products.n, products.k)) *
         sizeof(float);
}

void launch(const OpArgs& args, Stream& stream) {
  const Products products = products_of(args.step);
  float* packed = static_cast<float*>(args.workspace);
  const float* packed_from = nullptr;
  for (int64_t i = 0; i < element_count(products.batch); ++i) {
    int64_t a = 0, b = 0, rest = i;
    for (size_t d = products.batch.size(); d-- > 0; rest /= products.batch[d]) {
      a += rest % products.batch[d] * products.a_strides[d];
      b += rest % products.batch[d] * products.b_strides[d];
    }
    const float* matrix = args.inputs[1] + b * products.k * products.n;
    if (matrix != packed_from) {
      pack_b(matrix, products.k, products.n, false, 1, packed, *stream.threads());
      packed_from = matrix;
    }
    gemm({.m = products.m,
          .n = products.n,
          .k = products.k,
          .a = args.inputs[0] + a * products.m * products.k,
          .b = {packed},
          .c = args.output + i * products.m * products.n},
         packed + packed_count(products), *stream.threads());
  }
}

const RegisterOpKernel registered{{
    .info = {.name = "cpu.matmul", .device = DeviceKind::cpu},
    .refuses = refuses,
    .workspace_bytes = workspace_bytes,
    .launch = launch,
}};

}  // namespace
}  // namespace convlab
