#pragma once

#include <cstdint>
#include <initializer_list>

#include "convlab/base/error.h"

namespace convlab {

/// Returns a + b; throws Error(bad_input) on overflow. Sizes come from files and users, so they are never trusted.
inline int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw bad_input("size overflow: {} + {} does not fit in 64 bits", a, b);
  return sum;
}

/// Returns a * b; throws Error(bad_input) on overflow.
inline int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw bad_input("size overflow: {} * {} does not fit in 64 bits", a, b);
  return product;
}

/// Returns the product of all factors, 1 for none; throws Error(bad_input) on overflow.
inline int64_t checked_product(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors) product = checked_mul(product, factor);
  return product;
}

/// Returns a / b rounded up, for a >= 0 and b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Returns a rounded up to a multiple of b, for a >= 0 and b > 0.
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace convlab
