#pragma once

#include <concepts>

#include "convlab/kernels/step.h"
#include "convlab/verify/fills.h"

namespace convlab {

/// What rounds in a step.
enum class Arithmetic {
  exact,      ///< nothing: elements are moved or compared, or rounding is the operator itself
  sums,       ///< sums and products: exact for small integers
  averages,   ///< the same, and a division at the end
  real,       ///< everything
  product,    ///< a matrix product or convolution: depends on the kernel's arithmetic (KernelInfo::math)
  quantized,  ///< a float32 number, rounded to an integer
};

Arithmetic arithmetic_of(const Step& step);

/// Whether the operator's first input always holds integers, so that it cannot be NaN.
bool reads_integers(const Op& op);

/// Returns the products that an output of a step with Arithmetic::product sums, and the elements added to them.
double product_terms(const Step& step);

/// Whether `T` is one of `Types`: a visitor that lists all operators does not compile if one is missing.
template <class T, class... Types>
concept OneOf = (std::same_as<T, Types> || ...);

}  // namespace convlab
