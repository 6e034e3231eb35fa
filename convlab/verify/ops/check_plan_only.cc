// How operators that only plans contain are verified.

#include <cmath>
#include <limits>

#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
namespace {

/// A pixel between two others, in an axis with a zero on each side.
struct Between {
  int64_t first;
  double weight0, weight1;
};

Between between_at(int64_t size, int64_t side, int64_t i) {
  const double center = (static_cast<double>(i) + 0.5) * (static_cast<double>(size) / static_cast<double>(side)) - 0.5;
  const double rest = center - std::floor(center);
  return {static_cast<int64_t>(std::floor(center)), 1 - rest, rest};
}

/// Returns the products of a weight matrix (rows x columns) and x, plus a bias. Each product carries its operand's
/// error, and a sum of n terms rounds n + 1 times.
Values dense(const Array& w, const Values& x, const Array& bias) {
  Values result;
  for (size_t row = 0; row < bias.values.size(); ++row) {
    double value = bias.values[row], magnitude = std::fabs(value), error = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double weight = w.values[row * x.size() + i];
      value += weight * x[i].value;
      magnitude += std::fabs(weight * x[i].value);
      error += std::fabs(weight) * x[i].error;
    }
    result.push_back({value, error + (static_cast<double>(x.size()) + 1) * magnitude});
  }
  return result;
}

}  // namespace

template <>
struct OpCheck<ScaleOp> {
  static Arithmetic arithmetic(const ScaleOp&) { return Arithmetic::quantized; }
  static constexpr bool kReadsIntegers = true;
  static constexpr auto fill = kFillBytes;
  /// scikit-image's resize: bilinear between pixel centers, zeros around the image, clipped to the range of the image,
  /// truncated. The order of additions decides on which side of an integer a sum is: it may be off by one there.
  static Values reference(const ScaleOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const int64_t height = x.size(2), width = x.size(3);
    constexpr double kRounding = 1e-10;  // of a few additions of numbers up to 255 in double
    std::vector<double> least_of_maps(static_cast<size_t>(x.size(0) * x.size(1)), 255);
    for (size_t i = 0; i < x.values.size(); ++i) {
      double& least = least_of_maps[i / static_cast<size_t>(height * width)];
      least = std::min(least, x.values[i]);
    }
    return values_of(operands.output(), [&](const Index& y) {
      const double least = least_of_maps[static_cast<size_t>(y[0] * x.size(1) + y[1])];
      const auto pixel = [&](int64_t h, int64_t w) {
        const bool inside = h >= 0 && w >= 0 && h < height && w < width;
        return inside ? x.at({y[0], y[1], h, w}) : 0;
      };
      const Between row = between_at(height, op.side, y[2]), column = between_at(width, op.side, y[3]);
      double sum = pixel(row.first, column.first) * row.weight0 * column.weight0;
      sum += pixel(row.first, column.first + 1) * row.weight0 * column.weight1;
      sum += pixel(row.first + 1, column.first) * row.weight1 * column.weight0;
      sum += pixel(row.first + 1, column.first + 1) * row.weight1 * column.weight1;
      const double value = std::max(std::floor(sum), least);
      const bool ties = sum > least - 1 && std::fabs(sum - std::nearbyint(sum)) < kRounding;
      return Bounded{value, ties ? 1.0 : 0.0};
    });
  }
};

template <>
struct OpCheck<SqueezeExciteOp> {
  static Arithmetic arithmetic(const SqueezeExciteOp&) { return Arithmetic::real; }
  static void fill(const SqueezeExciteOp&, Filler& filler) {
    filler.reals(0, -2, 2);
    for (size_t i = 1; i < 5; ++i) {
      const float bound = i % 2 == 0 ? 0.5f : 3 / std::sqrt(static_cast<float>(filler.shape(i)[1]));
      filler.reals(i, -bound, bound);
    }
  }
  /// The mean of n pixels is off by n times their mean magnitude and 2 roundings; both products and activations carry
  /// errors on.
  static Values reference(const SqueezeExciteOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const int64_t pixels = x.size(2) * x.size(3);
    std::vector<Values> gates;
    for (int64_t image = 0; image < x.size(0); ++image) {
      Values means;
      for (int64_t c = 0; c < x.size(1); ++c) {
        Sum sum;
        for (int64_t i = 0; i < pixels; ++i) sum.add(x.at({image, c, i / x.size(3), i % x.size(3)}));
        const auto n = static_cast<double>(pixels);
        means.push_back({sum.value / n, sum.magnitude + 2 * std::fabs(sum.value / n)});
      }
      Values squeezed = dense(operands[1], means, operands[2]);
      for (Bounded& each : squeezed) each = activated(op.squeeze, each);
      Values excited = dense(operands[3], squeezed, operands[4]);
      for (Bounded& each : excited) each = activated(op.excite, each);
      gates.push_back(excited);
    }
    return values_of(x.shape, [&](const Index& index) {
      const Bounded& gate = gates[static_cast<size_t>(index[0])][static_cast<size_t>(index[1])];
      const double pixel = x.at(index), y = pixel * gate.value;
      return Bounded{y, std::fabs(pixel) * gate.error + std::fabs(y)};
    });
  }
};

template <>
struct OpCheck<ArgMaxOp> {
  static Arithmetic arithmetic(const ArgMaxOp&) { return Arithmetic::exact; }
  static constexpr auto fill = kFillTies;
  static Values reference(const ArgMaxOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const size_t images = static_cast<size_t>(x.size(0)), count = x.values.size() / images;
    Values values;
    for (size_t image = 0; image < images; ++image) {
      const double* first = &x.values[image * count];
      size_t best = 0;
      bool has_nan = false;
      for (size_t i = 0; i < count; ++i) {
        has_nan = has_nan || std::isnan(first[i]);
        if (first[i] > first[best]) best = i;
      }
      const bool unknown = has_nan || (op.finite && std::isinf(first[best]));
      values.push_back({unknown ? kNotANumber : static_cast<double>(best), 0});
    }
    return values;
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<PlanOnlyOps>() {
  return rows_of<OpCheckEntry>(PlanOnlyOps());
}

}  // namespace convlab::op_check
