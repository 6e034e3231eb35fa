// How quantized operators are verified.
//
// Sums of integers are exact, and rounded once if they do not fit in float32. A quantized value is a float32
// expression, rounded half to even. If model/op.h defines that expression, it is computed here in float32 and the
// result is exact; so is a product with powers of two. Otherwise kernels may associate factors differently: the result
// may be off by one (an error of 1) if the number in double is so close to a half that float32 rounding may move it
// across.

#include <cmath>
#include <cstdlib>

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
namespace {

/// A range of quantized values.
struct Range {
  double zero = 0, low = 0, high = 255;
};

template <class Op>
Range range_of(const Op& op) {
  return {static_cast<double>(op.zero), static_cast<double>(op.low), static_cast<double>(op.high)};
}

double quantized(double number, const Range& range) {
  return std::clamp(std::nearbyint(number) + range.zero, range.low, range.high);
}

/// Returns the quantized number, which may be off by one if a half is within `error` of it.
Bounded quantized_within(double number, double error, const Range& range) {
  return {quantized(number, range), quantized(number - error, range) == quantized(number + error, range) ? 0.0 : 1.0};
}

constexpr double kUnit = 0x1p-24;

bool is_power_of_two(double number) {
  int exponent = 0;
  return std::frexp(number, &exponent) == 0.5;
}

/// round(sum * x_scale * w_scale / y_scale) + zero: the sum, two products and the quotient are rounded in any order.
Bounded requantized(double sum, double x_scale, double w_scale, double y_scale, const Range& range) {
  const double number = static_cast<float>(sum) * (x_scale * w_scale / y_scale);
  const bool exact = is_power_of_two(x_scale) && is_power_of_two(w_scale) && is_power_of_two(y_scale);
  return quantized_within(number, exact ? 0 : 4 * kUnit * std::fabs(number), range);
}

/// Returns the parameter of an element: one for all, one for each index of the axis, or one for each block of them.
double step_at(const Array& steps, const Index& index, size_t axis, int64_t block_size) {
  if (block_size == 0) return steps.one_or(index.empty() ? 0 : index[axis]);
  Index own = index;
  own[axis] /= block_size;
  return steps.at(own);
}

/// Calls each(x, scale, zero) for each element of a QuantizeOp or a DequantizeOp.
template <class Op, class Each>
Values of_steps(const Op& op, const Operands& operands, Each each) {
  const Array &x = operands[0], &scale = operands[1];
  // Without an axis to speak of, a scalar's for example, there is one parameter.
  const bool single =
      op.block_size == 0 && scale.values.size() == 1 && (operands.count() < 3 || operands[2].values.size() == 1);
  const auto axis = single ? 0 : static_cast<size_t>(normalized_axis(op.axis, std::ssize(x.shape)));
  return values_of(x.shape, [&](const Index& index) {
    const double zero = operands.count() > 2 ? step_at(operands[2], index, axis, op.block_size) : 0;
    return each(x.at(index), step_at(scale, index, axis, op.block_size), zero);
  });
}

/// A sum of integers, as float32 holds it.
Bounded integer_sum(double sum) { return {static_cast<float>(sum), 0}; }

double byte_sum(const ByteAddOp& op, double a, double b) {
  return (a - op.a_zero) * double{op.a_factor} + (b - op.b_zero) * double{op.b_factor};
}

/// Kernels add zero points, times factors, as one number, so that no operand is shifted: up to four roundings.
Bounded added(const ByteAddOp& op, double a, double b) {
  const double magnitude = (a + std::abs(op.a_zero)) * std::fabs(double{op.a_factor}) +
                           (b + std::abs(op.b_zero)) * std::fabs(double{op.b_factor});
  const bool exact = is_power_of_two(op.a_factor) && is_power_of_two(op.b_factor);
  return quantized_within(byte_sum(op, a, b), exact ? 0 : 4 * kUnit * magnitude, range_of(op));
}

/// Scales: powers of two from 2^low to 2^high with integers, otherwise reals in that range.
void fill_scales(Filler& filler, size_t input, int low, int high) {
  for (float& element : filler.elements(input)) {
    const float power = filler.integers() ? static_cast<float>(filler.rng().integer(low, high))
                                          : filler.rng().uniform(static_cast<float>(low), static_cast<float>(high));
    element = std::exp2(power);
  }
}

constexpr int64_t kLargestByte = 255, kSmallestSigned = -128, kLargestSigned = 127, kLargestZero = 9;

void fill_zero_within(Filler& filler, size_t input, int low, int high) {
  filler.integers(input, low + (high - low) / 4, high - (high - low) / 4);
}

/// Sets the output's scale so that sums of n products of 8-bit integers cover its range: they are about 2^14 sqrt(n).
void set_output_scale(Filler& filler, size_t input, double terms, double scale) {
  constexpr double kProduct = 0x1p13, kSpread = 64;
  const double exponent = std::log2(scale * kProduct * std::sqrt(terms) / kSpread);
  filler.set(input, 0, static_cast<float>(std::exp2(filler.integers() ? std::round(exponent) : exponent)));
}

/// The inputs of a quantized product: x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero.
void fill_quantized_product(Filler& filler, double terms, int low, int high) {
  filler.integers(0, 0, kLargestByte);
  fill_scales(filler, 1, -6, -5);
  filler.integers(2, 0, kLargestByte);
  filler.integers(3, kSmallestSigned, kLargestSigned);
  fill_scales(filler, 4, -8, -6);
  filler.integers(5, -kLargestZero, kLargestZero);
  set_output_scale(filler, 6, terms, 0x1p-12);
  fill_zero_within(filler, 7, low, high);
}

double terms_of_filters(const Shape& w) { return static_cast<double>(w[1] * w[2] * w[3]); }

}  // namespace

template <>
struct OpCheck<QuantizeOp> {
  static Arithmetic arithmetic(const QuantizeOp&) { return Arithmetic::quantized; }
  /// Half of the integers are halfway between two quantized values.
  static void fill(const QuantizeOp& op, Filler& filler) {
    filler.integers() ? filler.integers(0, -kLargestByte, kLargestByte) : filler.reals(0, -40, 40);
    fill_scales(filler, 1, filler.integers() ? 1 : -3, filler.integers() ? 1 : -1);
    if (filler.count() > 2) fill_zero_within(filler, 2, op.low, op.high);
  }
  /// The quotient is rounded to float32, then to an integer. NaN stays NaN.
  static Values reference(const QuantizeOp& op, const Operands& operands) {
    return of_steps(op, operands, [&](double x, double scale, double zero) {
      const auto quotient = static_cast<double>(static_cast<float>(x) / static_cast<float>(scale));
      return Bounded{quantized(quotient, {zero, static_cast<double>(op.low), static_cast<double>(op.high)}), 0};
    });
  }
};

template <>
struct OpCheck<DequantizeOp> {
  static Arithmetic arithmetic(const DequantizeOp&) { return Arithmetic::sums; }
  static constexpr bool kReadsIntegers = true;
  static void fill(const DequantizeOp&, Filler& filler) {
    filler.integers(0, 0, kLargestByte);
    fill_scales(filler, 1, -6, -1);
    if (filler.count() > 2) filler.integers(2, 0, kLargestByte);
  }
  static Values reference(const DequantizeOp& op, const Operands& operands) {
    return of_steps(op, operands, [](double x, double scale, double zero) { return rounded((x - zero) * scale, 1); });
  }
};

template <>
struct OpCheck<QLinearConvOp> {
  static Arithmetic arithmetic(const QLinearConvOp&) { return Arithmetic::quantized; }
  static constexpr bool kReadsIntegers = true;
  static void fill(const QLinearConvOp& op, Filler& filler) {
    fill_quantized_product(filler, terms_of_filters(filler.shape(3)), op.low, op.high);
    if (filler.count() > 8) filler.integers(8, -kMostInteger, kMostInteger);
  }
  static Values reference(const QLinearConvOp& op, const Operands& operands) {
    const Shape& y = operands.output();
    const Range range{operands[7].values[0], static_cast<double>(op.low), static_cast<double>(op.high)};
    const std::vector<Sum> sums =
        convolution_sums(op.conv, operands[0], operands[2].values[0], operands[3], &operands[5]);
    size_t i = 0;
    return values_of(y, [&](const Index& index) {
      const double bias = operands.count() > 8 ? operands[8].values[static_cast<size_t>(index[1])] : 0;
      return requantized(sums[i++].value + bias, operands[1].values[0], operands[4].one_or(index[1]),
                         operands[6].values[0], range);
    });
  }
};

template <>
struct OpCheck<ConvIntegerOp> {
  static Arithmetic arithmetic(const ConvIntegerOp&) { return Arithmetic::sums; }
  static constexpr bool kReadsIntegers = true;
  static void fill(const ConvIntegerOp&, Filler& filler) {
    filler.integers(0, 0, kLargestByte);
    filler.integers(1, kSmallestSigned, kLargestSigned);
    if (filler.count() > 2) filler.integers(2, 0, kLargestByte);
    if (filler.count() > 3) filler.integers(3, -kLargestZero, kLargestZero);
  }
  static Values reference(const ConvIntegerOp& op, const Operands& operands) {
    const double x_zero = operands.count() > 2 ? operands[2].values[0] : 0;
    Values values;
    for (const Sum& sum :
         convolution_sums(op.conv, operands[0], x_zero, operands[1], operands.count() > 3 ? &operands[3] : nullptr)) {
      values.push_back(integer_sum(sum.value));
    }
    return values;
  }
};

template <>
struct OpCheck<QLinearMatMulOp> {
  static Arithmetic arithmetic(const QLinearMatMulOp&) { return Arithmetic::quantized; }
  static constexpr bool kReadsIntegers = true;
  static void fill(const QLinearMatMulOp& op, Filler& filler) {
    fill_quantized_product(filler, static_cast<double>(filler.shape(0).back()), op.low, op.high);
  }
  static Values reference(const QLinearMatMulOp& op, const Operands& operands) {
    const Range range{operands[7].values[0], static_cast<double>(op.low), static_cast<double>(op.high)};
    Values values;
    for (const auto& [sum, row, column] :
         matmul_sums(operands[0], operands[3], operands.output(), &operands[2], &operands[5])) {
      values.push_back(
          requantized(sum.value, operands[1].one_or(row), operands[4].one_or(column), operands[6].values[0], range));
    }
    return values;
  }
};

template <>
struct OpCheck<MatMulIntegerOp> {
  static Arithmetic arithmetic(const MatMulIntegerOp&) { return Arithmetic::sums; }
  static constexpr bool kReadsIntegers = true;
  static void fill(const MatMulIntegerOp&, Filler& filler) {
    filler.integers(0, 0, kLargestByte);
    filler.integers(1, kSmallestSigned, kLargestSigned);
    if (filler.count() > 2) filler.integers(2, 0, kLargestByte);
    if (filler.count() > 3) filler.integers(3, -kLargestZero, kLargestZero);
  }
  static Values reference(const MatMulIntegerOp&, const Operands& operands) {
    const Array* a_zeros = operands.count() > 2 ? &operands[2] : nullptr;
    const Array* b_zeros = operands.count() > 3 ? &operands[3] : nullptr;
    Values values;
    for (const MatrixSum& each : matmul_sums(operands[0], operands[1], operands.output(), a_zeros, b_zeros)) {
      values.push_back(integer_sum(each.sum.value));
    }
    return values;
  }
};

template <>
struct OpCheck<ByteAddOp> {
  static Arithmetic arithmetic(const ByteAddOp&) { return Arithmetic::quantized; }
  static constexpr bool kReadsIntegers = true;
  static void fill(const ByteAddOp&, Filler& filler) {
    for (size_t i = 0; i < 2; ++i) filler.integers(i, 0, kLargestByte);
  }
  static Values reference(const ByteAddOp& op, const Operands& operands) {
    Values values;
    for (size_t i = 0; i < operands[0].values.size(); ++i) {
      values.push_back(added(op, operands[0].values[i], operands[1].values[i]));
    }
    return values;
  }
};

template <>
struct OpCheck<ByteConvOp> {
  static Arithmetic arithmetic(const ByteConvOp&) { return Arithmetic::quantized; }
  static constexpr bool kReadsIntegers = true;
  static void fill(const ByteConvOp&, Filler& filler) {
    filler.integers(0, 0, kLargestByte);
    filler.integers(1, -kLargestSigned, kLargestSigned);
    const auto spread = static_cast<int>(std::lround(std::log2(0x1p7 * std::sqrt(terms_of_filters(filler.shape(1))))));
    fill_scales(filler, 2, -spread - 1, -spread);
    filler.integers(3, -kMostInteger, kMostInteger);
    if (filler.count() > 4) filler.integers(4, 0, kLargestByte);
  }
  static Values reference(const ByteConvOp& op, const Operands& operands) {
    const std::vector<Sum> sums = convolution_sums(op.conv, operands[0], op.x_zero, operands[1], nullptr);
    size_t i = 0;
    return values_of(operands.output(), [&](const Index& index) {
      const auto k = static_cast<size_t>(index[1]);
      const auto sum = static_cast<float>(sums[i].value + operands[3].values[k]);
      const double y = quantized(double{sum * static_cast<float>(operands[2].values[k])}, range_of(op));
      const size_t place = i++;
      return op.adds ? added(op.sum, y, operands[4].values[place]) : Bounded{y, 0};
    });
  }
};

template <>
struct OpCheck<ByteMeanOp> {
  static Arithmetic arithmetic(const ByteMeanOp&) { return Arithmetic::quantized; }
  static constexpr bool kReadsIntegers = true;
  static constexpr auto fill = kFillBytes;
  static Values reference(const ByteMeanOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const int64_t pixels = x.size(2) * x.size(3);
    return exact_values_of(operands.output(), [&](const Index& y) {
      double sum = 0;
      for (int64_t i = 0; i < pixels; ++i) sum += x.at({y[0], y[1], i / x.size(3), i % x.size(3)}) - op.x_zero;
      const float factor = op.factor / static_cast<float>(pixels);
      return quantized(double{static_cast<float>(sum) * factor}, range_of(op));
    });
  }
};

template <>
struct OpCheck<ByteConcatOp> {
  static Arithmetic arithmetic(const ByteConcatOp&) { return Arithmetic::quantized; }
  static constexpr bool kReadsIntegers = true;
  static constexpr auto fill = kFillBytes;
  static Values reference(const ByteConcatOp& op, const Operands& operands) {
    return exact_values_of(operands.output(), [&](Index index) {
      size_t input = 0;
      while (index[1] >= operands[input].size(1)) index[1] -= operands[input++].size(1);
      const ByteConcatOp::Part& part = op.parts[input];
      const float number = static_cast<float>(operands[input].at(index) - part.zero) * part.scale;
      return quantized(double{number / op.scale}, range_of(op));
    });
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<QuantizedOps>() {
  return rows_of<OpCheckEntry>(QuantizedOps());
}

}  // namespace convlab::op_check
