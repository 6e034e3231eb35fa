#pragma once

namespace convlab {

/// Functions of one number; the comments say which of alpha and beta they use. For NaN, they return NaN, except for
/// booleans, thresholded_relu and shrink, which return 0 because no condition holds.
enum class UnaryKind {
  abs,
  neg,
  sign,
  reciprocal,
  sqrt,
  exp,
  log,
  erf,
  floor,
  ceil,
  round,     ///< half to even
  truncate,  ///< toward 0: a Cast to integers
  to_bool,   ///< x != 0: a Cast to bool
  logical_not,
  is_nan,
  is_inf,  ///< alpha: detect_negative, beta: detect_positive
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  sinh,
  cosh,
  asinh,
  acosh,
  atanh,
  softplus,
  softsign,
  elu,           ///< alpha
  selu,          ///< alpha, beta: gamma
  celu,          ///< alpha
  hard_sigmoid,  ///< alpha, beta
  hard_swish,
  mish,
  swish,             ///< x * sigmoid(alpha * x)
  gelu,              ///< by erf
  gelu_tanh,         ///< ONNX's approximation by tanh
  thresholded_relu,  ///< alpha
  shrink             ///< alpha: lambd, beta: bias
};

/// Functions of two numbers.
enum class BinaryKind {
  subtract,
  divide,
  minimum,
  maximum,  ///< NaN if either is
  power,
  modulo,  ///< with the sign of the divisor
  fmod,    ///< with the sign of the dividend
  equal,
  greater,
  greater_equal,
  less,
  less_equal,
  logical_and,
  logical_or,
  logical_xor,
  prelu  ///< x, slope; the slope broadcasts to x
};

}  // namespace convlab
