// Computes the input elements and weights of each output position for cpu.resize.

#include "convlab/kernels/ops/windows/resize_taps.h"

#include <algorithm>
#include <cmath>

namespace convlab {
namespace {

/// Returns the input coordinate of an output position, in fp32 as ONNX Runtime computes it: whether it is exactly on an
/// element or between two decides what `nearest` selects.
float coordinate_of(ResizeCoordinates rule, const ResizedAxis& axis, int64_t input_size, int64_t at) {
  const auto place = static_cast<float>(at), size = static_cast<float>(input_size);
  switch (rule) {
    case ResizeCoordinates::half_pixel:
      return (place + 0.5f) / axis.scale - 0.5f;
    case ResizeCoordinates::half_pixel_symmetric: {
      const float adjustment = static_cast<float>(axis.size) / axis.length;
      return size / 2 * (1 - adjustment) + (place + 0.5f) / axis.scale - 0.5f;
    }
    case ResizeCoordinates::pytorch_half_pixel:
      return axis.size > 1 ? (place + 0.5f) / axis.scale - 0.5f : 0.0f;
    case ResizeCoordinates::align_corners:
      return axis.length == 1 ? 0.0f : place * (size - 1) / (axis.length - 1);
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

int64_t nearest_to(NearestRule rule, float x, float scale) {
  switch (rule) {
    case NearestRule::round_prefer_floor:
      return static_cast<int64_t>(std::ceil(x - 0.5f));
    case NearestRule::round_prefer_ceil:
      return static_cast<int64_t>(std::floor(x + 0.5f));
    case NearestRule::floor:
      return static_cast<int64_t>(std::floor(x));
    case NearestRule::ceil:
      return static_cast<int64_t>(std::ceil(x));
    case NearestRule::simple:
      return static_cast<int64_t>(scale < 1 ? std::ceil(x) : std::floor(x));
  }
  return 0;
}

double triangle(double x) { return std::max(0.0, 1 - std::fabs(x)); }

/// Returns Keys' cubic interpolation kernel with coefficient `a`.
double cubic(double x, double a) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
  return 0;
}

}  // namespace

ResizeTaps resize_taps(const ResizeOp& op, const ResizedAxis& axis, int64_t size) {
  const bool crops = op.coordinates == ResizeCoordinates::tf_crop_and_resize;
  const double radius = op.mode == SampleMode::cubic ? 2 : 1, a = op.cubic_coeff_a;
  // With antialias, a window is wider by the factor by which the output is smaller.
  const double scale = op.antialias ? std::min(static_cast<double>(axis.scale), 1.0) : 1;
  const auto reach = static_cast<int64_t>(std::floor(-radius / scale)) + 1;  // first tap, from the element before x
  ResizeTaps taps;
  taps.first.push_back(0);
  for (int64_t place = 0; place < axis.size; ++place) {
    const float x = coordinate_of(op.coordinates, axis, size, place);
    const bool outside = crops && !(x >= 0 && x <= static_cast<float>(size - 1));
    if (!outside && op.mode == SampleMode::nearest) {
      taps.elements.push_back(std::clamp<int64_t>(nearest_to(op.nearest, x, axis.scale), 0, size - 1));
      taps.weights.push_back(1);
    } else if (!outside) {
      const auto base = static_cast<int64_t>(std::ceil(x)) - 1;  // x lies in (base, base + 1]
      std::vector<double> weights;
      double sum = 0;
      for (int64_t i = base + reach; i <= base + 1 - reach; ++i) {
        const double distance = (static_cast<double>(i) - static_cast<double>(x)) * scale;
        const bool counts = !op.exclude_outside || (i >= 0 && i < size);
        weights.push_back(!counts ? 0 : op.mode == SampleMode::cubic ? cubic(distance, a) : triangle(distance));
        sum += weights.back();
      }
      for (size_t i = 0; i < weights.size(); ++i) {
        if (weights[i] == 0) continue;  // an element of weight 0 may be NaN
        taps.elements.push_back(std::clamp<int64_t>(base + reach + static_cast<int64_t>(i), 0, size - 1));
        taps.weights.push_back(static_cast<float>(weights[i] / sum));
      }
    }
    taps.first.push_back(static_cast<int64_t>(taps.elements.size()));
  }
  return taps;
}

}  // namespace convlab
