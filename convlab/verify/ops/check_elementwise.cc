// How elementwise operators are verified.
//
// Errors are in units of u = 2^-24; an error of one unit in the last place (ulp) is at most 2 u of the result. Each
// function allows the largest error among
//   our vector math (convlab/kernels/cpu/simd/math-inl.h): tanh 6 ulp, sigmoid 4 ulp;
//   Highway's contrib/math: Exp 1 ulp, Log1p 2 ulp, Expm1 4 ulp;
//   glibc ("Errors in Math Functions"): at most 2 ulp in float;
//   CUDA ("CUDA C++ Programming Guide", Mathematical Functions, single precision): division and sqrtf correctly
//     rounded, logf 1 ulp, expf, erff, sinf, cosf, atanf 2 ulp, sinhf, asinhf, atanhf 3 ulp, tanf, asinf, acosf, acoshf
//     4 ulp, powf 9 ulp (older editions list more than newer ones).
// Functions composed of them add their own roundings, and the argument's error times the function's condition number.

#include <array>
#include <cmath>
#include <limits>

#include "convlab/verify/ops/op_check.h"
#include "convlab/verify/oracle.h"
#include "convlab/verify/rounding.h"

namespace convlab::op_check {
namespace {

Arithmetic arithmetic_of_kind(UnaryKind kind) {
  switch (kind) {
    case UnaryKind::abs:
    case UnaryKind::neg:
    case UnaryKind::sign:
    case UnaryKind::floor:
    case UnaryKind::ceil:
    case UnaryKind::round:
    case UnaryKind::truncate:
    case UnaryKind::to_bool:
    case UnaryKind::logical_not:
    case UnaryKind::is_nan:
    case UnaryKind::is_inf:
    case UnaryKind::thresholded_relu:
      return Arithmetic::exact;
    default:
      return Arithmetic::real;
  }
}

Arithmetic arithmetic_of_kind(BinaryKind kind) {
  switch (kind) {
    case BinaryKind::divide:
    case BinaryKind::power:
      return Arithmetic::real;
    case BinaryKind::subtract:
    case BinaryKind::modulo:
    case BinaryKind::prelu:
      return Arithmetic::sums;
    default:
      return Arithmetic::exact;
  }
}

Arithmetic arithmetic_of_kind(ActivationKind kind) {
  const bool exact = kind == ActivationKind::none || kind == ActivationKind::relu || kind == ActivationKind::clip;
  return exact ? Arithmetic::exact : Arithmetic::real;
}

/// Rounds to `bits` significant bits, half to even; numbers below 2^least have the spacing of 2^least.
double rounded_to_bits(double value, int bits, int least) {
  if (!std::isfinite(value) || value == 0) return value;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(value), least) - (bits - 1));
  return std::nearbyint(value / unit) * unit;
}

double truth(bool value) { return value ? 1 : 0; }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); }

Bounded elu(double x, double alpha) { return x < 0 ? rounded(alpha * std::expm1(x), 9) : Bounded{x, 0}; }

Bounded function_of(const UnaryOp& op, double x) {
  const double alpha = op.alpha, beta = op.beta, size = std::fabs(x);
  switch (op.kind) {
    case UnaryKind::abs:
      return {size, 0};
    case UnaryKind::neg:
      return {-x, 0};
    case UnaryKind::sign:
      return {x > 0 ? 1 : x < 0 ? -1 : x, 0};
    case UnaryKind::floor:
      return {std::floor(x), 0};
    case UnaryKind::ceil:
      return {std::ceil(x), 0};
    case UnaryKind::round:
      return {std::nearbyint(x), 0};
    case UnaryKind::truncate:
      return {std::trunc(x), 0};
    case UnaryKind::to_bool:
      return {truth(x != 0), 0};
    case UnaryKind::logical_not:
      return {truth(x == 0), 0};
    case UnaryKind::is_nan:
      return {truth(std::isnan(x)), 0};
    case UnaryKind::is_inf:
      return {truth(std::isinf(x) && (x < 0 ? alpha : beta) != 0), 0};
    case UnaryKind::thresholded_relu:
      return {x > alpha ? x : 0, 0};
    case UnaryKind::shrink:
      return rounded(x < -alpha ? x + beta : x > alpha ? x - beta : 0, 1);
    case UnaryKind::reciprocal:
      return rounded(1 / x, 1);
    case UnaryKind::sqrt:
      return rounded(std::sqrt(x), 1);
    case UnaryKind::exp:
      return rounded(std::exp(x), 4);
    case UnaryKind::log:
      return rounded(std::log(x), 2);
    case UnaryKind::erf:  // our polynomials: 3e-9, and a few roundings
      return rounded(std::erf(x), 8);
    case UnaryKind::sin:
      return rounded(std::sin(x), 4);
    case UnaryKind::cos:
      return rounded(std::cos(x), 4);
    case UnaryKind::tan:
      return rounded(std::tan(x), 8);
    case UnaryKind::asin:
      return rounded(std::asin(x), 8);
    case UnaryKind::acos:
      return rounded(std::acos(x), 8);
    case UnaryKind::atan:
      return rounded(std::atan(x), 4);
    case UnaryKind::sinh:
      return rounded(std::sinh(x), 6);
    case UnaryKind::cosh:
      return rounded(std::cosh(x), 4);
    case UnaryKind::asinh:
      return rounded(std::asinh(x), 6);
    case UnaryKind::acosh:
      return rounded(std::acosh(x), 8);
    case UnaryKind::atanh:
      return rounded(std::atanh(x), 6);
    case UnaryKind::softplus:  // exp 4, log1p 4, addition 1
      return rounded(std::isnan(x) ? x : softplus(x), 9);
    case UnaryKind::softsign:
      return rounded(x / (1 + size), 2);
    case UnaryKind::elu:
      return elu(x, alpha);
    case UnaryKind::selu: {
      const Bounded inner = elu(x, alpha);
      return {beta * inner.value, std::fabs(beta) * (inner.error + std::fabs(inner.value))};
    }
    case UnaryKind::celu: {  // expm1 8, product 1, addition 1; its argument's rounding has a condition number of t + 1
      const double t = x / alpha, bent = alpha * std::expm1(t);
      if (std::isnan(x)) return {x, 0};
      return rounded(std::max(x, 0.0) + std::min(bent, 0.0), x < 0 ? 11 + std::max(t, 0.0) : 1);
    }
    case UnaryKind::hard_sigmoid: {
      const double line = alpha * x + beta;
      return {std::isnan(x) ? x : std::clamp(line, 0.0, 1.0), std::fabs(alpha * x) + std::fabs(line)};
    }
    case UnaryKind::hard_swish: {
      const double line = x / 6 + 0.5, gate = std::clamp(line, 0.0, 1.0);
      return {x * gate, size * (size / 6 + std::fabs(line)) + std::fabs(x * gate)};
    }
    case UnaryKind::mish:  // x n / (n + 2), with n = e^x (e^x + 2) off by 10
      return rounded(std::isnan(x) ? x : x * std::tanh(softplus(x)), 14);
    case UnaryKind::swish:  // sigmoid 8, product 1; the argument's rounding has the condition number |alpha x|
      return rounded(x * sigmoid(alpha * x), 9 + std::fabs(alpha * x));
    case UnaryKind::gelu: {  // 1 + erf(t) cancels for t < 0, where erf is off by 8 units of 1; 2 t erf'(t) <= 1
      const double y = x / 2 * std::erfc(-x * std::sqrt(0.5));
      return {y, 5 * size + 2 * std::fabs(y)};
    }
    case UnaryKind::gelu_tanh: {  // x * sigmoid(t), where t is off by 6 roundings
      const double t = 2 * std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
      return rounded(x * sigmoid(t), 10 + 6 * std::fabs(t));
    }
  }
  return {x, 0};
}

/// The remainder with the divisor's sign.
double modulo(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

Bounded function_of(BinaryKind kind, double a, double b) {
  const bool has_nan = std::isnan(a) || std::isnan(b);
  switch (kind) {
    case BinaryKind::subtract:
      return rounded(a - b, 1);
    case BinaryKind::divide:
      return rounded(a / b, 1);
    case BinaryKind::minimum:
      return {has_nan ? kNotANumber : std::min(a, b), 0};
    case BinaryKind::maximum:
      return {has_nan ? kNotANumber : std::max(a, b), 0};
    case BinaryKind::power:
      return rounded(std::pow(a, b), 18);
    case BinaryKind::modulo:
      return rounded(modulo(a, b), 1);
    case BinaryKind::fmod:
      return {std::fmod(a, b), 0};
    case BinaryKind::equal:
      return {truth(a == b), 0};
    case BinaryKind::greater:
      return {truth(a > b), 0};
    case BinaryKind::greater_equal:
      return {truth(a >= b), 0};
    case BinaryKind::less:
      return {truth(a < b), 0};
    case BinaryKind::less_equal:
      return {truth(a <= b), 0};
    case BinaryKind::logical_and:
      return {truth(a != 0 && b != 0), 0};
    case BinaryKind::logical_or:
      return {truth(a != 0 || b != 0), 0};
    case BinaryKind::logical_xor:
      return {truth((a != 0) != (b != 0)), 0};
    case BinaryKind::prelu:
      return a < 0 ? rounded(a * b, 1) : Bounded{a, 0};
  }
  return {a, 0};
}

template <class Function>
Values of_each(const Operands& operands, Function function) {
  Values values;
  for (const double x : operands[0].values) values.push_back(function(x));
  return values;
}

template <class Function>
Values of_pairs(const Operands& operands, Function function) {
  return values_of(operands.output(), [&](const Index& index) {
    return function(operands[0].broadcast_at(index), operands[1].broadcast_at(index));
  });
}

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Halves the elements, so that rounding meets halves.
void halve(Filler& filler, size_t input) {
  for (float& element : filler.elements(input)) element /= 2;
}

/// Sets every fifth element to one of the values.
void sprinkle(Filler& filler, const std::array<float, 2>& values) {
  for (size_t i = 0; i < filler.elements(0).size(); i += 5) filler.set(0, i, values[i / 5 % 2]);
}

}  // namespace

double rounded_to_f16(double value) {
  constexpr double kOverflow = 65520;  // halfway between the largest number, 65504, and 2^16
  if (std::fabs(value) >= kOverflow) return std::copysign(std::numeric_limits<double>::infinity(), value);
  return rounded_to_bits(value, 11, -14);
}

double rounded_to_bf16(double value) { return rounded_to_bits(value, 8, -126); }

Bounded activated(const Activation& activation, const Bounded& x) {
  const double y = activate(activation, x.value), size = std::fabs(y);
  double own = 0;
  switch (activation.kind) {
    case ActivationKind::none:
    case ActivationKind::relu:
    case ActivationKind::clip:
      break;
    case ActivationKind::leaky_relu:
      own = x.value < 0 ? size : 0;
      break;
    case ActivationKind::sigmoid:
      own = 8 * size;
      break;
    case ActivationKind::tanh:
      own = 12 * size;
      break;
    case ActivationKind::swish:
      own = 9 * size;
      break;
    case ActivationKind::hard_swish:  // x + 3 rounds, then two products and 1/6
      own = std::fabs(x.value) * std::min(std::fabs(x.value + 3), 6.0) / 6 + 3 * size;
      break;
  }
  return {y, slope_of(activation) * x.error + own};
}

template <>
struct OpCheck<ActivationOp> {
  static Arithmetic arithmetic(const ActivationOp& op) { return arithmetic_of_kind(op.activation.kind); }
  static void fill(const ActivationOp&, Filler& filler) { filler.numbers(0, 8, -8, 8); }
  static Values reference(const ActivationOp& op, const Operands& operands) {
    return of_each(operands, [&](double x) { return activated(op.activation, {x, 0}); });
  }
};

template <>
struct OpCheck<RoundOp> {
  static Arithmetic arithmetic(const RoundOp&) { return Arithmetic::exact; }
  /// Some reals are halfway between two numbers of the type.
  static void fill(const RoundOp& op, Filler& filler) {
    filler.numbers(0, kMostInteger, -100, 100);
    if (filler.integers()) return;
    const float half = 1 + (op.brain ? 0x1p-8f : 0x1p-11f);
    sprinkle(filler, {half, 3 * half});
  }
  static Values reference(const RoundOp& op, const Operands& operands) {
    return of_each(operands, [&](double x) { return Bounded{op.brain ? rounded_to_bf16(x) : rounded_to_f16(x), 0}; });
  }
};

template <>
struct OpCheck<UnaryOp> {
  static Arithmetic arithmetic(const UnaryOp& op) { return arithmetic_of_kind(op.kind); }
  static void fill(const UnaryOp& op, Filler& filler) {
    if (filler.integers()) {
      filler.integers(0, -16, 16);
      halve(filler, 0);
    } else {
      filler.reals(0, -4, 4);
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    switch (op.kind) {
      case UnaryKind::is_nan:
        return sprinkle(filler, {nan, kInfinity});
      case UnaryKind::is_inf:
        return sprinkle(filler, {kInfinity, -kInfinity});
      case UnaryKind::reciprocal:
        return filler.signed_reals(0, 0.25f, 4);
      case UnaryKind::sqrt:
      case UnaryKind::log:
        return filler.reals(0, 0.01f, 4);
      case UnaryKind::acosh:
        return filler.reals(0, 1.01f, 4);
      case UnaryKind::asin:
      case UnaryKind::acos:
      case UnaryKind::atanh:
        return filler.reals(0, -0.99f, 0.99f);
      case UnaryKind::tan:
        return filler.reals(0, -1.4f, 1.4f);
      default:
        return;
    }
  }
  static Values reference(const UnaryOp& op, const Operands& operands) {
    return of_each(operands, [&](double x) { return function_of(op, x); });
  }
};

template <>
struct OpCheck<AddOp> {
  static Arithmetic arithmetic(const AddOp&) { return Arithmetic::sums; }
  static void fill(const AddOp&, Filler& filler) {
    for (size_t i = 0; i < 2; ++i) filler.numbers(i, filler.largest_sum() / 2);
  }
  static Values reference(const AddOp&, const Operands& operands) {
    return of_pairs(operands, [](double a, double b) { return rounded(a + b, 1); });
  }
};

template <>
struct OpCheck<MulOp> {
  static Arithmetic arithmetic(const MulOp&) { return Arithmetic::sums; }
  static void fill(const MulOp&, Filler& filler) {
    for (size_t i = 0; i < 2; ++i) filler.numbers(i, bound_of_power(filler.largest_sum(), 1, 2));
  }
  static Values reference(const MulOp&, const Operands& operands) {
    return of_pairs(operands, [](double a, double b) { return rounded(a * b, 1); });
  }
};

template <>
struct OpCheck<BinaryOp> {
  static Arithmetic arithmetic(const BinaryOp& op) { return arithmetic_of_kind(op.kind); }
  static void fill(const BinaryOp& op, Filler& filler) {
    switch (op.kind) {
      case BinaryKind::divide:
        filler.reals(0, -2, 2);
        return filler.signed_reals(1, 0.25f, 4);
      case BinaryKind::power:
        filler.reals(0, 0.1f, 4);
        return filler.reals(1, -3, 3);
      case BinaryKind::modulo:
      case BinaryKind::fmod:
        filler.numbers(0, 100, -8, 8);
        if (!filler.integers()) return filler.signed_reals(1, 0.25f, 4);
        filler.integers(1, 1, 9);
        for (size_t i = 0; i < filler.elements(1).size(); i += 2) filler.set(1, i, -filler.elements(1)[i]);
        return;
      case BinaryKind::logical_and:
      case BinaryKind::logical_or:
      case BinaryKind::logical_xor:
        for (size_t i = 0; i < 2; ++i) filler.integers(i, 0, 1);
        return;
      case BinaryKind::subtract:
        for (size_t i = 0; i < 2; ++i) filler.numbers(i, filler.largest_sum() / 2);
        return;
      case BinaryKind::prelu:
        for (size_t i = 0; i < 2; ++i) filler.numbers(i, bound_of_power(filler.largest_sum(), 1, 2));
        return;
      case BinaryKind::minimum:
      case BinaryKind::maximum:
        for (size_t i = 0; i < 2; ++i) filler.ties(i);
        return;
      default:  // comparisons, which need equal numbers
        for (size_t i = 0; i < 2; ++i) filler.integers(i, -kTies, kTies);
        return;
    }
  }
  static Values reference(const BinaryOp& op, const Operands& operands) {
    return of_pairs(operands, [&](double a, double b) { return function_of(op.kind, a, b); });
  }
};

template <>
struct OpCheck<WhereOp> {
  static Arithmetic arithmetic(const WhereOp&) { return Arithmetic::exact; }
  static void fill(const WhereOp&, Filler& filler) {
    filler.integers(0, 0, 1);
    for (size_t i = 1; i < 3; ++i) filler.numbers(i, 100);
  }
  static Values reference(const WhereOp&, const Operands& operands) {
    return exact_values_of(operands.output(), [&](const Index& index) {
      return operands[operands[0].broadcast_at(index) != 0 ? 1 : 2].broadcast_at(index);
    });
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<ElementwiseOps>() {
  return rows_of<OpCheckEntry>(ElementwiseOps());
}

}  // namespace convlab::op_check
