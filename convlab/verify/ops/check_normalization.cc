// How normalizations and softmax are verified.
//
// Errors in units of u, to first order. A sum of n positive numbers is off by n relative units, in any order; a square
// root halves a relative error; division, product and square root add 1 each.

#include <cmath>
#include <limits>
#include <utility>

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
namespace {

/// Calls each(line) for every line of x along an axis, where `line` has the flat index of each of its elements.
template <class Each>
void for_each_line(const Shape& shape, int64_t axis, int64_t count_of_axes, Each each) {
  int64_t outer = 1, count = 1, inner = 1;
  for (int64_t i = 0; i < std::ssize(shape); ++i) {
    (i < axis ? outer : i < axis + count_of_axes ? count : inner) *= shape[static_cast<size_t>(i)];
  }
  std::vector<size_t> line(static_cast<size_t>(count));
  for (int64_t i = 0; i < outer * inner; ++i) {
    for (int64_t j = 0; j < count; ++j) {
      line[static_cast<size_t>(j)] = static_cast<size_t>((i / inner * count + j) * inner + i % inner);
    }
    each(std::as_const(line));
  }
}

/// Mean and 1 / deviation of a range, each with its error.
struct Moments {
  Bounded mean, inverse;
};

/// The mean of n numbers is off by n times their mean magnitude. That error moves the variance only in second order, as
/// deviations from the mean add up to 0. Each squared deviation rounds twice, and n of them add up to n more.
Moments moments_of(const NormalizeOp& op, const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  double sum = 0, magnitude = 0;
  for (const double each : x) sum += each, magnitude += std::fabs(each);
  Moments moments;
  if (op.center) moments.mean = {sum / n, magnitude + std::fabs(sum / n)};
  double squares = 0;
  for (const double each : x) squares += (each - moments.mean.value) * (each - moments.mean.value);
  const double variance = squares / n, inverse = 1 / std::sqrt(variance + double{op.epsilon});
  moments.inverse = rounded(inverse, (n + 5) / 2 + 3);
  return moments;
}

/// Returns (x - mean) * inverse * scale + bias.
Bounded normalized(double x, const Moments& moments, double scale, double bias) {
  const double off = x - moments.mean.value, inverse = moments.inverse.value;
  const double product = off * inverse * scale, y = product + bias;
  const double error = std::fabs(inverse * scale) * (moments.mean.error + std::fabs(off)) +
                       std::fabs(off * scale) * moments.inverse.error + 2 * std::fabs(product) + std::fabs(y);
  return {y, error};
}

}  // namespace

template <>
struct OpCheck<BatchNormOp> {
  static Arithmetic arithmetic(const BatchNormOp&) { return Arithmetic::real; }
  static void fill(const BatchNormOp&, Filler& filler) {
    for (size_t i = 0; i < 4; ++i) filler.reals(i, -2, 2);
    filler.reals(4, 0.25f, 4);
  }
  /// The factor f = scale / sqrt(variance + epsilon) rounds 4 times. Kernels compute (x - mean) * f + shift, or x * f +
  /// (shift - mean * f): 4 more roundings.
  static Values reference(const BatchNormOp& op, const Operands& operands) {
    return values_of(operands.output(), [&](const Index& index) {
      const auto c = static_cast<size_t>(index[1]);
      const double mean = operands[3].values[c], shift = operands[2].values[c], x = operands[0].at(index);
      const double factor = operands[1].values[c] / std::sqrt(operands[4].values[c] + double{op.epsilon});
      const double y = (x - mean) * factor + shift;
      return Bounded{y, 8 * std::fabs(factor) * (std::fabs(x) + std::fabs(mean)) + 2 * std::fabs(shift) + std::fabs(y)};
    });
  }
};

template <>
struct OpCheck<NormalizeOp> {
  static Arithmetic arithmetic(const NormalizeOp&) { return Arithmetic::real; }
  static void fill(const NormalizeOp&, Filler& filler) {
    for (size_t i = 0; i < filler.count(); ++i) filler.reals(i, -2, 2);
  }
  static Values reference(const NormalizeOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const auto rank = std::ssize(x.shape);
    const bool by_group = op.groups != 0;
    const int64_t axis = by_group ? 1 : normalized_axis(op.axis, rank);
    // A group is a range of channels: its own dimension, in a view of x as N, groups, everything else.
    Shape view = x.shape;
    if (by_group) view = {x.size(0), op.groups, element_count(x.shape) / x.size(0) / op.groups};
    const int64_t from = by_group ? 2 : axis;
    Values values(x.values.size());
    Values parts;
    std::vector<Index> indices;
    for_each_index(x.shape, [&](const Index& index) { indices.push_back(index); });
    for_each_line(view, from, std::ssize(view) - from, [&](const std::vector<size_t>& line) {
      std::vector<double> range;
      for (const size_t i : line) range.push_back(x.values[i]);
      const Moments moments = moments_of(op, range);
      parts.push_back(op.part == NormalizePart::mean ? moments.mean : moments.inverse);
      for (const size_t i : line) {
        const auto factor = [&](size_t input, double absent) {
          if (input >= operands.count()) return absent;
          if (by_group) return operands[input].values[static_cast<size_t>(indices[i][1])];
          return operands[input].broadcast_at(indices[i]);
        };
        values[i] = normalized(x.values[i], moments, factor(1, 1), factor(2, 0));
      }
    });
    return op.part == NormalizePart::result ? values : parts;
  }
};

template <>
struct OpCheck<LpNormalizeOp> {
  static Arithmetic arithmetic(const LpNormalizeOp&) { return Arithmetic::real; }
  static constexpr auto fill = kFillNumbers;
  static Values reference(const LpNormalizeOp& op, const Operands& operands) {
    const Array& x = operands[0];
    Values values(x.values.size());
    for_each_line(x.shape, normalized_axis(op.axis, std::ssize(x.shape)), 1, [&](const std::vector<size_t>& line) {
      double sum = 0;
      for (const size_t i : line) sum += op.p == 1 ? std::fabs(x.values[i]) : x.values[i] * x.values[i];
      const double norm = op.p == 1 ? sum : std::sqrt(sum);
      for (const size_t i : line) values[i] = rounded(x.values[i] / norm, static_cast<double>(line.size()) + 3);
    });
    return values;
  }
};

template <>
struct OpCheck<LrnOp> {
  static Arithmetic arithmetic(const LrnOp&) { return Arithmetic::real; }
  static constexpr auto fill = kFillNumbers;
  /// The base is off by at most size + 3 relative units, which the power multiplies by beta; powf is off by 9 ulp
  /// (CUDA).
  static Values reference(const LrnOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const int64_t before = (op.size - 1) / 2, after = op.size - 1 - before;
    return values_of(x.shape, [&](const Index& index) {
      double squares = 0;
      Index other = index;
      const int64_t last = std::min(index[1] + after, x.size(1) - 1);
      for (other[1] = std::max<int64_t>(index[1] - before, 0); other[1] <= last; ++other[1]) {
        squares += x.at(other) * x.at(other);
      }
      const double base = double{op.bias} + double{op.alpha} / static_cast<double>(op.size) * squares;
      const double units = std::fabs(double{op.beta}) * (static_cast<double>(op.size) + 4) + 20;
      return rounded(x.at(index) / std::pow(base, double{op.beta}), units);
    });
  }
};

template <>
struct OpCheck<SoftmaxOp> {
  static Arithmetic arithmetic(const SoftmaxOp&) { return Arithmetic::real; }
  static constexpr auto fill = kFillNumbers;
  /// Subtracting the largest element rounds x - m, which moves its exponential by |x - m| relative units; expf adds 4
  /// (2 ulp). The sum of n exponentials has the error of the worst one, and n.
  static Values reference(const SoftmaxOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const auto rank = std::ssize(x.shape);
    const int64_t axis = normalized_axis(op.axis, rank);
    Values values(x.values.size());
    for_each_line(x.shape, axis, op.flattened ? rank - axis : 1, [&](const std::vector<size_t>& line) {
      double most = -std::numeric_limits<double>::infinity(), least = -most, sum = 0;
      bool has_nan = false;
      for (const size_t i : line) {
        most = std::max(most, x.values[i]), least = std::min(least, x.values[i]);
        has_nan = has_nan || std::isnan(x.values[i]);
      }
      for (const size_t i : line) sum += std::exp(x.values[i] - most);
      const double of_sum = (most - least) + 4 + static_cast<double>(line.size());
      for (const size_t i : line) {
        const double below = most - x.values[i], y = op.log ? -below - std::log(sum) : std::exp(-below) / sum;
        const double error = op.log ? below + of_sum + 2 * std::log(sum) + std::fabs(y) : y * (below + 4 + of_sum + 1);
        values[i] = has_nan ? Bounded{kNotANumber, 0} : Bounded{y, error};
      }
    });
    return values;
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<NormalizationOps>() {
  return rows_of<OpCheckEntry>(NormalizationOps());
}

}  // namespace convlab::op_check
