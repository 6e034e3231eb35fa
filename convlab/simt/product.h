#pragma once

#include <cstdint>

namespace convlab::simt {

/// A matrix of float, or of float16, column by column: element (row, column) is number row + column * leading.
struct ProductMatrix {
  const void* data = nullptr;
  int leading = 0;
  int64_t stride = 0;  ///< to the next product's, in elements
  bool transposed = false, half = false;

  int element_bytes() const { return half ? 2 : 4; }
  bool operator==(const ProductMatrix&) const = default;
};

/// What cuBLAS calls a strided batched product: `count` times c = alpha * a * b + beta * c, where a is m by k, b k by n
/// and c m by n. One that is transposed lies there as k by m, or n by k.
struct Product {
  int m = 0, n = 0, k = 0, count = 1;
  float alpha = 1, beta = 0;
  ProductMatrix a, b, c;

  bool operator==(const Product&) const = default;
};

/// From a matrix's first element to the end of its last, in all products.
struct ProductBytes {
  int64_t a, b, c;
};

/// Error(bad_input) for what is no product: fewer than one row, column or product, a leading dimension or a stride that
/// is too small, a transposed result, sizes beyond 64 bits.
ProductBytes bytes_of(const Product& product);

/// Multiplications and additions. Error(bad_input) beyond 64 bits.
int64_t flops_of(const Product& product);

/// Carries a product out on matrices in the device's memory, as plain loops that sum in double. Error(bad_input) where
/// a matrix is not there, passes the end of its array, or may not be written.
void multiply(const Product& product);

}  // namespace convlab::simt
