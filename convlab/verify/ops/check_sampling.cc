// How Resize and GridSample are verified.
//
// Errors in units of u. A coordinate c is computed with at most 4 roundings, so it is off by 4 (|c| + 1); a weight
// follows it with the slope of its kernel: at most 1 (linear), 2 (cubic), times the largest element. The sum of n
// weighted elements is off by n + 3 times its magnitude: weights are normalized and rounded. `nearest` is exact: the
// coordinate is defined in float32.

#include <cmath>

#include "convlab/model/shapes.h"
#include "convlab/verify/ops/op_check.h"

namespace convlab::op_check {
namespace {

Arithmetic arithmetic_of_mode(SampleMode mode) {
  return mode == SampleMode::nearest ? Arithmetic::exact : Arithmetic::real;
}

/// Elements of one axis with their weights, and the error of each weight.
struct Taps {
  std::vector<int64_t> elements;
  std::vector<double> weights;
  double weight_error = 0;
  bool outside = false;
};

/// The interpolation kernels of ONNX's Resize; `a` is cubic_coeff_a.
double weight_of(SampleMode mode, double distance, double a) {
  const double d = std::fabs(distance);
  if (mode == SampleMode::linear) return std::max(0.0, 1 - d);
  if (d < 1) return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  if (d < 2) return a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
  return 0;
}

/// Returns the input coordinate of an output position, in float32 as ONNX Runtime computes it: whether it is exactly on
/// an element or halfway between two decides what `nearest` selects.
float coordinate_of(ResizeCoordinates rule, const ResizedAxis& axis, int64_t input_size, int64_t at) {
  const auto place = static_cast<float>(at), size = static_cast<float>(input_size);
  switch (rule) {
    case ResizeCoordinates::half_pixel:
      return (place + 0.5f) / axis.scale - 0.5f;
    case ResizeCoordinates::half_pixel_symmetric: {
      const float center = size / 2 * (1 - static_cast<float>(axis.size) / axis.length);
      return center + (place + 0.5f) / axis.scale - 0.5f;
    }
    case ResizeCoordinates::pytorch_half_pixel:
      return axis.size == 1 ? 0 : (place + 0.5f) / axis.scale - 0.5f;
    case ResizeCoordinates::align_corners:
      return axis.length == 1 ? 0 : place * (size - 1) / (axis.length - 1);
    case ResizeCoordinates::asymmetric:
      return place / axis.scale;
    case ResizeCoordinates::tf_half_pixel_for_nn:
      return (place + 0.5f) / axis.scale;
    case ResizeCoordinates::tf_crop_and_resize:
      if (axis.length == 1) return 0.5f * (axis.roi_start + axis.roi_end) * (size - 1);
      return axis.roi_start * (size - 1) + place * (axis.roi_end - axis.roi_start) * (size - 1) / (axis.length - 1);
  }
  return 0;
}

int64_t nearest_to(double x, NearestRule rule, bool shrinks) {
  const auto below = static_cast<int64_t>(std::floor(x));
  const double rest = x - std::floor(x);
  switch (rule) {
    case NearestRule::floor:
      return below;
    case NearestRule::ceil:
      return below + (rest > 0);
    case NearestRule::round_prefer_floor:
      return below + (rest > 0.5);
    case NearestRule::round_prefer_ceil:
      return below + (rest >= 0.5);
    case NearestRule::simple:
      return below + (shrinks && rest > 0);
  }
  return below;
}

Taps taps_of(const ResizeOp& op, const ResizedAxis& axis, int64_t size, int64_t place) {
  if (!axis.changes) return {.elements = {place}, .weights = {1}};
  const double x = coordinate_of(op.coordinates, axis, size, place);
  const auto last = static_cast<double>(size - 1);
  if (op.coordinates == ResizeCoordinates::tf_crop_and_resize && !(x >= 0 && x <= last))
    return {.elements = {}, .weights = {}, .outside = true};
  if (op.mode == SampleMode::nearest) {
    return {.elements = {std::clamp<int64_t>(nearest_to(x, op.nearest, axis.scale < 1), 0, size - 1)}, .weights = {1}};
  }
  // With antialias, a window is wider by the factor by which the output is smaller.
  const double narrow = op.antialias ? std::min(double{axis.scale}, 1.0) : 1;
  const auto reach = static_cast<int64_t>(std::ceil(2 / narrow)) + 1, base = static_cast<int64_t>(std::floor(x));
  Taps taps;
  double sum = 0;
  for (int64_t i = base - reach; i <= base + reach; ++i) {
    if (op.exclude_outside && (i < 0 || i >= size)) continue;
    const double weight = weight_of(op.mode, (static_cast<double>(i) - x) * narrow, op.cubic_coeff_a);
    if (weight == 0) continue;  // the element may be NaN
    taps.elements.push_back(std::clamp<int64_t>(i, 0, size - 1));
    taps.weights.push_back(weight);
    sum += weight;
  }
  // With exclude_outside, a position that is further outside than the kernel reaches has no element.
  if (taps.weights.empty()) return {.elements = {}, .weights = {}, .outside = true};
  for (double& weight : taps.weights) weight /= sum;
  taps.weight_error = (op.mode == SampleMode::cubic ? 2 : 1) * 4 * (std::fabs(x) + 1) / sum;
  return taps;
}

/// Returns x mirrored at both ends until it is between them.
double reflected(double x, double low, double high) {
  if (low == high) return low;
  while (x < low || x > high) x = x < low ? 2 * low - x : 2 * high - x;
  return x;
}

/// Taps of a normalized coordinate; element -1 is outside and counts as 0.
Taps taps_of(const GridSampleOp& op, double place, int64_t size) {
  constexpr double kCubicCoefficient = -0.75;
  const auto length = static_cast<double>(size);
  const double low = op.align_corners ? 0 : -0.5, high = op.align_corners ? length - 1 : length - 0.5;
  double x = op.align_corners ? (place + 1) / 2 * (length - 1) : ((place + 1) * length - 1) / 2;
  const double error = 4 * (std::fabs(x) + 1 + length);
  if (op.mode == SampleMode::nearest) x = std::nearbyint(x);
  if (x < low || x > high) {
    if (op.padding == SamplePadding::border) x = std::clamp(x, 0.0, length - 1);
    if (op.padding == SamplePadding::reflection) x = reflected(x, low, high);
  }
  Taps taps;
  for (int next = -1; next <= 2; ++next) {
    const double i = std::floor(x) + next;
    const double weight = op.mode == SampleMode::nearest ? (i == std::nearbyint(x) ? 1 : 0)
                                                         : weight_of(op.mode, i - x, kCubicCoefficient);
    if (weight == 0) continue;
    if (op.padding == SamplePadding::zeros && (i < 0 || i > length - 1)) continue;
    const double pixel = op.padding == SamplePadding::reflection ? std::trunc(reflected(i, low, high)) : i;
    taps.elements.push_back(static_cast<int64_t>(std::clamp(pixel, 0.0, length - 1)));
    taps.weights.push_back(weight);
  }
  if (op.mode != SampleMode::nearest) taps.weight_error = (op.mode == SampleMode::cubic ? 2 : 1) * error;
  return taps;
}

double largest_magnitude(const Array& x) {
  double largest = 0;
  for (const double value : x.values) {
    if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
  }
  return largest;
}

/// Sums an array's elements, weighted along each axis. `index` is set axis by axis.
void add_weighted(const Array& x, const std::vector<const Taps*>& taps, Index& index, double weight, Sum& sum) {
  const size_t axis = index.size();
  if (axis == taps.size()) return sum.add(weight * x.at(index));
  index.push_back(0);
  for (size_t i = 0; i < taps[axis]->elements.size(); ++i) {
    index[axis] = taps[axis]->elements[i];
    add_weighted(x, taps, index, weight * taps[axis]->weights[i], sum);
  }
  index.pop_back();
}

/// Returns the weighted sum, with the errors of its weights; `exact` if there is one element of weight 1.
Bounded sampled(const Array& x, const std::vector<const Taps*>& taps, double largest) {
  Sum sum;
  Index index;
  add_weighted(x, taps, index, 1, sum);
  double errors = 0, weights = 1;
  bool exact = true;
  for (const Taps* axis : taps) {
    double total = 0;
    for (const double weight : axis->weights) total += std::fabs(weight);
    weights *= std::max(total, 1.0);
    errors += static_cast<double>(axis->weights.size()) * axis->weight_error;
    exact = exact && axis->weight_error == 0;
  }
  if (exact) return {sum.value, 0};
  const auto axes = static_cast<double>(taps.size());
  return {sum.value, (sum.terms + 3 * axes) * sum.magnitude + errors * weights * largest};
}

}  // namespace

template <>
struct OpCheck<ResizeOp> {
  static Arithmetic arithmetic(const ResizeOp& op) { return arithmetic_of_mode(op.mode); }
  static constexpr auto fill = kFillNumbers;
  static Values reference(const ResizeOp& op, const Operands& operands) {
    const Array& x = operands[0];
    const Shape& y = operands.output();
    const std::vector<ResizedAxis> axes = resized_axes(op, x.shape);
    std::vector<std::vector<Taps>> taps(axes.size());
    for (size_t axis = 0; axis < axes.size(); ++axis) {
      for (int64_t i = 0; i < y[axis]; ++i) taps[axis].push_back(taps_of(op, axes[axis], x.size(axis), i));
    }
    const double largest = std::max(largest_magnitude(x), std::fabs(double{op.extrapolation_value}));
    return values_of(y, [&](const Index& index) {
      std::vector<const Taps*> own;
      for (size_t axis = 0; axis < axes.size(); ++axis) {
        own.push_back(&taps[axis][static_cast<size_t>(index[axis])]);
      }
      const bool outside = std::ranges::any_of(own, [](const Taps* each) { return each->outside; });
      if (!outside) return sampled(x, own, largest);
      const double value = op.extrapolation_value;
      // A kernel that resizes axis by axis interpolates between equal values.
      return rounded(value, op.mode == SampleMode::nearest ? 0 : 8 * static_cast<double>(own.size()));
    });
  }
};

template <>
struct OpCheck<GridSampleOp> {
  static Arithmetic arithmetic(const GridSampleOp& op) { return arithmetic_of_mode(op.mode); }
  /// Positions reach beyond the image. For `nearest` they are at most 0.4 pixels from a pixel's center, so that
  /// rounding selects the same one in any arithmetic.
  static void fill(const GridSampleOp& op, Filler& filler) {
    filler.numbers(0, 100);
    filler.reals(1, -1.3f, 1.3f);
    if (op.mode != SampleMode::nearest) return;
    for (size_t i = 0; i < filler.elements(1).size(); ++i) {
      const int64_t size = filler.shape(0)[i % 2 == 0 ? 3 : 2];
      const double pixel = static_cast<double>(filler.rng().integer(-1, size)) + filler.rng().uniform(-0.4f, 0.4f);
      const auto length = static_cast<double>(size);
      const double place = op.align_corners ? 2 * pixel / std::max(length - 1, 1.0) - 1 : (2 * pixel + 1) / length - 1;
      filler.set(1, i, static_cast<float>(place));
    }
  }
  static Values reference(const GridSampleOp& op, const Operands& operands) {
    const Array &x = operands[0], &grid = operands[1];
    const double largest = largest_magnitude(x);
    return values_of(operands.output(), [&](const Index& y) {
      const double across = grid.at({y[0], y[2], y[3], 0}), down = grid.at({y[0], y[2], y[3], 1});
      const bool known = op.padding == SamplePadding::reflection ? std::isfinite(across) && std::isfinite(down)
                                                                 : !std::isnan(across) && !std::isnan(down);
      if (!known) return Bounded{kNotANumber, 0};
      const Taps image{.elements = {y[0]}, .weights = {1}}, channel{.elements = {y[1]}, .weights = {1}};
      const Taps rows = taps_of(op, down, x.size(2)), columns = taps_of(op, across, x.size(3));
      return sampled(x, {&image, &channel, &rows, &columns}, largest);
    });
  }
};

template <>
std::vector<OpCheckEntry> OpCheckEntry::rows<SamplingOps>() {
  return rows_of<OpCheckEntry>(SamplingOps());
}

}  // namespace convlab::op_check
