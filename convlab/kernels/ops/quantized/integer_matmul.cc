// Multiplies matrices of 8-bit integers exactly, with zero points.

#include "convlab/kernels/ops/quantized/integer_matmul.h"

#include "convlab/base/checked.h"
#include "convlab/kernels/ops/matrix_products.h"
#include "convlab/kernels/ops/quantized/integer_product.h"

namespace convlab {
namespace {

int64_t rounded_count(const Shape& shape) { return round_up(element_count(shape), kFloatsOfLine); }

}  // namespace

int64_t integer_matmul_workspace_count(const Shape& a, const Shape& b, const Shape& output) {
  const MatrixProducts products(a, b, output);
  return rounded_count(a) + rounded_count(b) + integer_workspace_count(products.n, products.k);
}

void integer_matmul(const IntegerMatrix& a, const IntegerMatrix& b, const Shape& output, float* workspace,
                    ThreadPool& threads, const TakeRowSums& take) {
  const MatrixProducts products(a.shape, b.shape, output);
  const int64_t n = products.n, k = products.k;
  float *a_values = workspace, *b_values = a_values + rounded_count(a.shape);
  float* scratch = b_values + rounded_count(b.shape);
  threads.parallel_for(k == 0 ? 0 : element_count(a.shape) / k, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const float zero = a.zero(row % products.rows);
      for (int64_t i = row * k; i < (row + 1) * k; ++i) a_values[i] = a.values[i] - zero;
    }
  });
  threads.parallel_for(element_count(b.shape) / n, 16, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t i = 0; i < n; ++i) b_values[row * n + i] = b.values[row * n + i] - b.zero(i);
    }
  });
  for (int64_t i = 0; i < element_count(products.batch); ++i) {
    const auto [of_a, of_b] = products.operands(i);
    const IntegerProduct product{products.m, n, k, a_values + of_a * products.m * k, b_values + of_b * k * n};
    integer_product(product, scratch, threads, [&](int64_t row, int64_t column, int64_t count, const double* sums) {
      take(row % products.rows, column, (i * products.m + row) * n + column, count, sums);
    });
  }
}

}  // namespace convlab
