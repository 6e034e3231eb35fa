#pragma once

#include "convlab/device/cuda_compat.h"
#include "convlab/model/op.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

inline __device__ float truth(bool value) { return value ? 1.0f : 0.0f; }

/// Applies a unary function in fp32 with CUDA's math functions. NaN stays NaN, except in functions that return 0 or 1,
/// in thresholded_relu and in shrink.
inline __device__ float function_of(const UnaryOp& op, float x) {
  const float alpha = op.alpha, beta = op.beta;
  switch (op.kind) {
    case UnaryKind::abs:
      return fabsf(x);
    case UnaryKind::neg:
      return -x;
    case UnaryKind::sign:
      return x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? 0.0f : x;
    case UnaryKind::reciprocal:
      return 1 / x;
    case UnaryKind::sqrt:
      return sqrtf(x);
    case UnaryKind::exp:
      return expf(x);
    case UnaryKind::log:
      return logf(x);
    case UnaryKind::erf:
      return erff(x);
    case UnaryKind::floor:
      return floorf(x);
    case UnaryKind::ceil:
      return ceilf(x);
    case UnaryKind::round:
      return rintf(x);
    case UnaryKind::truncate:
      return truncf(x) + 0.0f;  // integers have no -0
    case UnaryKind::to_bool:
      return truth(x != 0);
    case UnaryKind::logical_not:
      return truth(x == 0);
    case UnaryKind::is_nan:
      return truth(x != x);
    case UnaryKind::is_inf:
      return truth(fabsf(x) == INFINITY && (x < 0 ? alpha : beta) != 0);
    case UnaryKind::sin:
      return sinf(x);
    case UnaryKind::cos:
      return cosf(x);
    case UnaryKind::tan:
      return tanf(x);
    case UnaryKind::asin:
      return asinf(x);
    case UnaryKind::acos:
      return acosf(x);
    case UnaryKind::atan:
      return atanf(x);
    case UnaryKind::sinh:
      return sinhf(x);
    case UnaryKind::cosh:
      return coshf(x);
    case UnaryKind::asinh:
      return asinhf(x);
    case UnaryKind::acosh:
      return acoshf(x);
    case UnaryKind::atanh:
      return atanhf(x);
    case UnaryKind::softplus:  // log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|))
      return (x < 0 ? 0 : x) + log1pf(expf(-fabsf(x)));
    case UnaryKind::softsign:
      return x / (1 + fabsf(x));
    case UnaryKind::elu:
      return x < 0 ? alpha * expm1f(x) : x;
    case UnaryKind::selu:
      return beta * (x < 0 ? alpha * expm1f(x) : x);
    case UnaryKind::celu: {
      const float bent = alpha * expm1f((x > 0 ? 0 : x) / alpha);
      return (x < 0 ? 0 : x) + (bent > 0 ? 0 : bent);
    }
    case UnaryKind::hard_sigmoid: {
      const float y = alpha * x + beta;
      return y < 0 ? 0 : y > 1 ? 1 : y;
    }
    case UnaryKind::hard_swish: {
      const float gate = x / 6 + 0.5f;
      return x * (gate < 0 ? 0 : gate > 1 ? 1 : gate);
    }
    case UnaryKind::mish: {  // x * tanh(softplus(x)) = x * n / (n + 2) with n = e^x (e^x + 2), which is x from 20 on
      const float e = expf(x > 20 ? 20 : x), n = e * (e + 2);
      return x > 20 ? x : x * (n / (n + 2));
    }
    case UnaryKind::swish:
      return x / (1 + expf(-alpha * x));
    case UnaryKind::gelu:
      return x * 0.5f * (1 + erff(x * 0.70710678f));
    case UnaryKind::gelu_tanh:  // x / 2 (1 + tanh(y / 2)) = x * sigmoid(y)
      return x / (1 + expf(-1.5957691f * (x * x * x * 0.044715f + x)));
    case UnaryKind::thresholded_relu:
      return x > alpha ? x : 0;
    case UnaryKind::shrink:
      return x < -alpha ? x + beta : x > alpha ? x - beta : 0;
  }
  return x;
}

/// Returns the remainder with the divisor's sign, as in Python.
inline __device__ float modulo_of(float a, float b) {
  const float rest = fmodf(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Applies a binary function in fp32 with CUDA's math functions.
inline __device__ float function_of(const BinaryOp& op, float a, float b) {
  switch (op.kind) {
    case BinaryKind::subtract:
      return a - b;
    case BinaryKind::divide:
      return a / b;
    case BinaryKind::minimum:
      return a < b || a != a ? a : b;
    case BinaryKind::maximum:
      return a > b || a != a ? a : b;
    case BinaryKind::power:
      return powf(a, b);
    case BinaryKind::modulo:
      return modulo_of(a, b);
    case BinaryKind::fmod:
      return fmodf(a, b);
    case BinaryKind::equal:
      return truth(a == b);
    case BinaryKind::greater:
      return truth(a > b);
    case BinaryKind::greater_equal:
      return truth(a >= b);
    case BinaryKind::less:
      return truth(a < b);
    case BinaryKind::less_equal:
      return truth(a <= b);
    case BinaryKind::logical_and:
      return truth(a != 0 && b != 0);
    case BinaryKind::logical_or:
      return truth(a != 0 || b != 0);
    case BinaryKind::logical_xor:
      return truth((a != 0) != (b != 0));
    case BinaryKind::prelu:
      return a * (a < 0 ? b : 1.0f);
  }
  return a;
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
