// Checks and computes matrix products for simulated cuBLAS calls.

#include "convlab/simt/product.h"

#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/half.h"
#include "convlab/simt/call_recorder.h"
#include "convlab/simt/memory.h"

namespace convlab::simt {
namespace {

int64_t bytes_of(const ProductMatrix& matrix, int64_t rows, int64_t columns, int count) {
  if (matrix.transposed) std::swap(rows, columns);
  if (matrix.leading < rows)
    throw bad_input("matrix product: columns have {} elements, but the leading dimension is {}", rows, matrix.leading);
  if (matrix.stride < 0) throw bad_input("matrix product: stride must be at least 0, got {}", matrix.stride);
  const int64_t others = checked_mul(count - 1, matrix.stride), last_column = checked_mul(columns - 1, matrix.leading);
  return checked_mul(checked_add(checked_add(others, last_column), rows), matrix.element_bytes());
}

void require_there(const ProductMatrix& matrix, int64_t bytes, bool written) {
  const auto ranges = internal::current_ranges();
  const auto address = reinterpret_cast<uintptr_t>(matrix.data);
  const internal::Range* range = internal::range_at(*ranges, address);
  if (range == nullptr || static_cast<uint64_t>(bytes) > range->bytes - (address - range->base)) {
    throw bad_input("matrix product: a matrix is not in device memory or goes past the end of its array");
  }
  if (address % static_cast<uintptr_t>(matrix.element_bytes()) != 0)
    throw bad_input("matrix product: a matrix is not aligned to its element size");
  if (written && !range->writable) throw bad_input("matrix product: the result array '{}' is read-only", range->name);
}

float element(const ProductMatrix& matrix, int64_t batch, int64_t row, int64_t column) {
  const int64_t at =
      batch * matrix.stride + (matrix.transposed ? column + row * matrix.leading : row + column * matrix.leading);
  return matrix.half ? half_to_float(static_cast<const uint16_t*>(matrix.data)[at])
                     : static_cast<const float*>(matrix.data)[at];
}

}  // namespace

ProductBytes bytes_of(const Product& p) {
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.count < 1)
    throw bad_input("matrix product: sizes must be at least 1, got {} x {} times {} x {}, batch size {}", p.m, p.k, p.k,
                    p.n, p.count);
  if (p.c.transposed) throw bad_input("matrix product: a transposed result is not supported");
  if (p.count > 1 && p.c.stride == 0) {
    throw bad_input("matrix product: {} results overlap because the stride is 0", p.count);
  }
  return {bytes_of(p.a, p.m, p.k, p.count), bytes_of(p.b, p.k, p.n, p.count), bytes_of(p.c, p.m, p.n, p.count)};
}

int64_t flops_of(const Product& p) { return checked_product({2, p.m, p.n, p.k, p.count}); }

void multiply(const Product& p) {
  const ProductBytes bytes = bytes_of(p);
  if (Recorder* const records = recorder()) return records->multiply(p);
  require_there(p.a, bytes.a, false);
  require_there(p.b, bytes.b, false);
  require_there(p.c, bytes.c, true);
  void* const results = const_cast<void*>(p.c.data);
  for (int64_t batch = 0; batch < p.count; ++batch) {
    for (int64_t column = 0; column < p.n; ++column) {
      for (int64_t row = 0; row < p.m; ++row) {
        double sum = 0;
        for (int64_t i = 0; i < p.k; ++i)
          sum += static_cast<double>(element(p.a, batch, row, i)) * element(p.b, batch, i, column);
        float result = p.alpha * static_cast<float>(sum);
        if (p.beta != 0) result += p.beta * element(p.c, batch, row, column);
        const int64_t at = batch * p.c.stride + row + column * p.c.leading;
        if (p.c.half) static_cast<uint16_t*>(results)[at] = float_to_half(result);
        if (!p.c.half) static_cast<float*>(results)[at] = result;
      }
    }
  }
  mark_initialised(results, static_cast<size_t>(bytes.c));
}

}  // namespace convlab::simt
