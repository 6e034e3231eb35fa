#pragma once

#include <cstdint>
#include <initializer_list>

#include "convlab/base/error.h"

namespace convlab {

/// a + b, or Error(bad_input) where the sum leaves int64_t. Sizes come from files and users: they are never trusted.
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw bad_input("size overflow: {} + {} does not fit in 64 bits", a, b);
  return sum;
}

/// a * b, or Error(bad_input) where the product leaves int64_t.
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw bad_input("size overflow: {} * {} does not fit in 64 bits", a, b);
  return product;
}

/// The product of all factors, 1 for none.
inline int64_t checked_product(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors) product = checked_mul(product, factor);
  return product;
}

/// The smallest integer not below a / b, for a >= 0 and b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// The smallest multiple of b not below a, for a >= 0 and b > 0.
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace convlab
