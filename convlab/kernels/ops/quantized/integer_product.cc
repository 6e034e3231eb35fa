// Multiplies matrices of small integers exactly: blocks in fp32, their sums in double.

#include "convlab/kernels/ops/quantized/integer_product.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/gemm/gemm.h"

namespace convlab {
namespace {

constexpr int64_t kRows = 16, kColumns = 8 * kGemmPanel;
// 128 * (2^8 - 1)^2 < 2^24: float32 holds all partial sums of a block.
static_assert(kGemmDepth * 255 * 255 < (1 << 24));

}  // namespace

int64_t integer_workspace_count(int64_t n, int64_t k) { return packed_b_count(k, n); }

void integer_product(const IntegerProduct& product, float* workspace, ThreadPool& threads, const TakeSums& take) {
  const auto [m, n, k, a, b] = product;
  const PackedB packed = pack_b(b, k, n, false, 1, workspace, threads);
  const int64_t row_pieces = ceil_div(m, kRows), column_pieces = ceil_div(n, kColumns);
  const int64_t padded = round_up(n, kGemmPanel), lda = k, depth_of_a = k;
  const float* first_of_a = a;
  threads.parallel_for(row_pieces * column_pieces, 1, [&, m = m, n = n](int64_t begin, int64_t end, int) {
    alignas(64) float block[kRows * kColumns];
    double sums[kRows * kColumns];
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t row = piece % row_pieces * kRows, column = piece / row_pieces * kColumns;
      const int64_t rows = std::min(kRows, m - row), columns = std::min(kColumns, n - column);
      std::fill_n(sums, rows * kColumns, 0.0);
      for (int64_t first = 0; first < depth_of_a; first += kGemmDepth) {
        const int64_t depth = std::min(kGemmDepth, depth_of_a - first);
        gemm_block({.rows = rows,
                    .columns = columns,
                    .depth = depth,
                    .a = first_of_a + row * lda + first,
                    .lda = lda,
                    .panels = packed.from(first * padded + column * depth),
                    .c = block,
                    .ldc = kColumns});
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t j = 0; j < columns; ++j) sums[i * kColumns + j] += block[i * kColumns + j];
        }
      }
      for (int64_t i = 0; i < rows; ++i) take(row + i, column, columns, sums + i * kColumns);
    }
  });
}

}  // namespace convlab
