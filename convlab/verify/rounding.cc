// Rounding errors of arithmetic classes and of activations.

#include "convlab/verify/rounding.h"

#include <algorithm>
#include <cmath>

namespace convlab {

ClassErrors errors_of(Math math) {
  switch (math) {
    case Math::int8:  // sums are exact, but scaled in fp32
    case Math::fp32:
      return {.product = 0, .addition = kFloatUnit, .subnormal = 0, .relative_l2 = 1e-6};
    case Math::bf16x2:
      return {.product = 0x1p-14, .addition = 0x1p-22, .subnormal = 0, .relative_l2 = 0x1p-15};
    case Math::tf32:
      return {.product = 0x1p-9 + 0x1p-20, .addition = 0x1p-22, .subnormal = 0, .relative_l2 = 0x1p-8};
    case Math::fp16:
      return {.product = 0x1p-10 + 0x1p-22, .addition = 0x1p-11, .subnormal = 0x1p-25, .relative_l2 = 0x1p-7};
    case Math::bf16:
      return {.product = 0x1p-7 + 0x1p-16, .addition = 0x1p-22, .subnormal = 0, .relative_l2 = 0x1p-7};
  }
  return {};
}

double error_of_random_sums(double terms, double outputs) {
  return kFloatUnit * std::sqrt(terms / 6) * (1 + 2 / std::sqrt(outputs));
}

double slope_of(const Activation& activation) {
  switch (activation.kind) {
    case ActivationKind::leaky_relu:
      return std::max(1.0, std::abs(static_cast<double>(activation.alpha)));
    case ActivationKind::sigmoid:
      return 0.25;
    case ActivationKind::swish:
    case ActivationKind::hard_swish:
      return 1.5;  // hard_swish has its maximum, 1.5, at 3; swish stays below 1.1
    default:
      return 1;
  }
}

double roundings_of(const Activation& activation) {
  if (activation.kind == ActivationKind::hard_swish) return 4;
  return activation.kind == ActivationKind::leaky_relu ? 1 : 0;
}

ElementaryErrors elementary_errors(const Activation& activation) {
  constexpr double kError = 16 * kFloatUnit;  // 8 units in the last place of numbers near 1
  switch (activation.kind) {
    case ActivationKind::sigmoid:
    case ActivationKind::tanh:
      return {.absolute = kError};
    case ActivationKind::swish:
      return {.absolute = kError, .relative = kError};
    default:
      return {};
  }
}

}  // namespace convlab
