#pragma once

#include <cstdint>

namespace convlab::simt {

/// A column-major matrix of float or fp16: element (row, column) has index row + column * leading.
struct ProductMatrix {
  const void* data = nullptr;
  int leading = 0;
  int64_t stride = 0;  ///< distance to the next product's matrix, in elements
  bool transposed = false, half = false;

  int element_bytes() const { return half ? 2 : 4; }
  bool operator==(const ProductMatrix&) const = default;
};

/// A strided batched matrix product, in cuBLAS' terms: `count` times c = alpha * a * b + beta * c, where a is m x k, b
/// is k x n and c is m x n. A transposed operand is stored as k x m or n x k.
struct Product {
  int m = 0, n = 0, k = 0, count = 1;
  float alpha = 1, beta = 0;
  ProductMatrix a, b, c;

  bool operator==(const Product&) const = default;
};

/// Bytes from a matrix's first element to the end of its last, over all products of the batch.
struct ProductBytes {
  int64_t a, b, c;
};

/// Returns the extents of the three matrices. Throws Error(bad_input) for an invalid product: fewer than one row,
/// column or product, a leading dimension or a stride that is too small, a transposed result, sizes beyond 64 bits.
ProductBytes bytes_of(const Product& product);

/// Returns the number of multiplications and additions. Throws Error(bad_input) beyond 64 bits.
int64_t flops_of(const Product& product);

/// Computes a product of matrices in device memory with plain loops that accumulate in double. Throws Error(bad_input)
/// if a matrix is not in device memory, extends past the end of its array, or must not be written.
void multiply(const Product& product);

}  // namespace convlab::simt
