// Implements sqrt, exp, erf and the activations built from them with SIMD vectors.

#include "convlab/kernels/ops/elementwise/vector_functions.h"

#include <algorithm>
#include <limits>

#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/ops/elementwise/vector_functions.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using Floats = hn::CappedTag<float, 16>;
using V = hn::Vec<Floats>;

HWY_INLINE V number(float value) { return hn::Set(Floats(), value); }

HWY_INLINE V or_nan(V x, V y) { return hn::IfThenElse(hn::IsNaN(x), x, y); }

/// Returns exp(x), or infinity if it exceeds the range of fp32.
HWY_INLINE V exp_of(V x) {
  const V infinity = number(std::numeric_limits<float>::infinity());
  const V within = hn::Max(hn::Min(x, number(89)), number(-104));
  return or_nan(x, hn::IfThenElse(hn::Gt(x, number(88.7228394f)), infinity, hn::Exp(Floats(), within)));
}

/// Returns exp(x) - 1 for x <= 0.
HWY_INLINE V exp_minus_one(V x) { return or_nan(x, hn::Expm1(Floats(), hn::Max(hn::Min(x, number(0)), number(-104)))); }

/// Evaluates a polynomial in x; the coefficients start with the highest power.
template <size_t kCount>
HWY_INLINE V polynomial(V x, const float (&coefficients)[kCount]) {
  V sum = number(coefficients[0]);
  for (size_t i = 1; i < kCount; ++i) sum = hn::MulAdd(sum, x, number(coefficients[i]));
  return sum;
}

/// Returns erf(x): an odd polynomial for |x| < 1, otherwise 1 - exp(p(|x|)). Both are fitted at Chebyshev points, with
/// errors of 1e-9 and 3e-9.
HWY_INLINE V erf_of(V x) {
  constexpr float kNear[] = {7.875875063e-5f, -8.016864287e-4f, 5.189087423e-3f, -2.685421201e-2f,
                             0.1128359472f,   -0.3761262667f,   1.128379166f};
  constexpr float kFar[] = {1.637151415e-6f, -4.605804269e-5f, 5.968056257e-4f, -4.759596293e-3f, 2.642113601e-2f,
                            -0.1100800829f,  -0.6318260516f,   -1.130233435f,   3.201380497e-4f};
  const V size = hn::Min(hn::Abs(x), number(4));
  const V near = hn::Mul(x, polynomial(hn::Mul(x, x), kNear));
  const V far = hn::CopySign(hn::Sub(number(1), hn::Exp(Floats(), polynomial(size, kFar))), x);
  return or_nan(x, hn::IfThenElse(hn::Lt(size, number(1)), near, far));
}

/// Returns log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)).
HWY_INLINE V softplus_of(V x) {
  const V small = hn::Log1p(Floats(), exp_of(hn::Neg(hn::Abs(x))));
  return or_nan(x, hn::Add(hn::Max(x, number(0)), small));
}

/// Returns x * tanh(softplus(x)) = x * n / (n + 2) with n = e^x (e^x + 2); in fp32 this is x for x > 20.
HWY_INLINE V mish_of(V x) {
  const V e = exp_of(hn::Min(x, number(20)));
  const V n = hn::Mul(e, hn::Add(e, number(2)));
  const V y = hn::Mul(x, hn::Div(n, hn::Add(n, number(2))));
  return or_nan(x, hn::IfThenElse(hn::Gt(x, number(20)), x, y));
}

template <UnaryKind kKind>
HWY_INLINE V function_of(V x, V alpha, V beta) {
  const Floats d;
  const auto negative = hn::Lt(x, number(0));
  switch (kKind) {
    case UnaryKind::sqrt:
      return hn::Sqrt(x);
    case UnaryKind::exp:
      return exp_of(x);
    case UnaryKind::erf:
      return erf_of(x);
    case UnaryKind::softplus:
      return softplus_of(x);
    case UnaryKind::elu:
      return hn::IfThenElse(negative, hn::Mul(alpha, exp_minus_one(x)), x);
    case UnaryKind::selu:
      return hn::Mul(beta, hn::IfThenElse(negative, hn::Mul(alpha, exp_minus_one(x)), x));
    case UnaryKind::celu: {
      // The quotient is positive if x and alpha are negative.
      const V ratio = hn::Max(hn::Min(hn::Div(x, alpha), number(89)), number(-104));
      const V bent = hn::Mul(alpha, hn::Expm1(d, ratio));
      return or_nan(x, hn::Add(hn::Max(x, number(0)), hn::Min(bent, number(0))));
    }
    case UnaryKind::mish:
      return mish_of(x);
    case UnaryKind::swish:
      return sigmoid_of(d, hn::Mul(alpha, x), x);
    case UnaryKind::gelu:
      return hn::Mul(hn::Mul(x, number(0.5f)), hn::Add(number(1), erf_of(hn::Mul(x, number(0.70710678f)))));
    case UnaryKind::gelu_tanh: {  // x / 2 (1 + tanh(y / 2)) = x * sigmoid(y)
      const V cube = hn::Mul(hn::Mul(x, x), x);
      const V y = hn::Mul(number(1.5957691f), hn::MulAdd(cube, number(0.044715f), x));
      return hn::Mul(x, sigmoid_of(d, y));
    }
    default:
      return x;
  }
}

template <UnaryKind kKind>
void apply(float alpha, float beta, const float* from, float* to, int64_t count) {
  const Floats d;
  const V a = number(alpha), b = number(beta);
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(function_of<kKind>(hn::LoadU(d, from + i), a, b), d, to + i);
  if (i == count) return;
  HWY_ALIGN float rest[16] = {};
  std::copy(from + i, from + count, rest);
  hn::Store(function_of<kKind>(hn::Load(d, rest), a, b), d, rest);
  std::copy(rest, rest + (count - i), to + i);
}

void apply_kind(UnaryKind kind, float alpha, float beta, const float* from, float* to, int64_t count) {
  switch (kind) {
    case UnaryKind::sqrt:
      return apply<UnaryKind::sqrt>(alpha, beta, from, to, count);
    case UnaryKind::exp:
      return apply<UnaryKind::exp>(alpha, beta, from, to, count);
    case UnaryKind::erf:
      return apply<UnaryKind::erf>(alpha, beta, from, to, count);
    case UnaryKind::softplus:
      return apply<UnaryKind::softplus>(alpha, beta, from, to, count);
    case UnaryKind::elu:
      return apply<UnaryKind::elu>(alpha, beta, from, to, count);
    case UnaryKind::selu:
      return apply<UnaryKind::selu>(alpha, beta, from, to, count);
    case UnaryKind::celu:
      return apply<UnaryKind::celu>(alpha, beta, from, to, count);
    case UnaryKind::mish:
      return apply<UnaryKind::mish>(alpha, beta, from, to, count);
    case UnaryKind::swish:
      return apply<UnaryKind::swish>(alpha, beta, from, to, count);
    case UnaryKind::gelu:
      return apply<UnaryKind::gelu>(alpha, beta, from, to, count);
    case UnaryKind::gelu_tanh:
      return apply<UnaryKind::gelu_tanh>(alpha, beta, from, to, count);
    default:
      return;
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(apply_kind);

}  // namespace

bool has_vector_function(UnaryKind kind) {
  constexpr UnaryKind kKinds[] = {UnaryKind::sqrt,  UnaryKind::exp,  UnaryKind::erf,      UnaryKind::softplus,
                                  UnaryKind::elu,   UnaryKind::selu, UnaryKind::celu,     UnaryKind::mish,
                                  UnaryKind::swish, UnaryKind::gelu, UnaryKind::gelu_tanh};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

void apply_vector_function(UnaryKind kind, float alpha, float beta, const float* from, float* to, int64_t count) {
  HWY_DYNAMIC_DISPATCH(apply_kind)(kind, alpha, beta, from, to, count);
}

}  // namespace convlab
#endif  // HWY_ONCE
