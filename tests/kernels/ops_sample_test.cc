// Tests operators that sample images against a reference in double, and Resize against examples from the ONNX
// documentation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/kernels/op_checks.h"

namespace convlab {
namespace {

// Resize.

Tensor counted(const Shape& shape) {
  Tensor tensor(ElementType::f32, shape);
  for (size_t i = 0; i < static_cast<size_t>(tensor.count()); ++i)
    tensor.values<float>()[i] = static_cast<float>(i + 1);
  return tensor;
}

void expect_values(const ResizeOp& op, const Tensor& x, const Shape& shape, const std::vector<double>& wanted) {
  size_t i = 0;
  expect_near(run(op, {&x}), shape, 2e-5, [&](const Index&) { return wanted.at(i++); });
}

TEST(CpuResize, ExamplesOfOnnxsDocumentation) {
  using enum SampleMode;
  using enum ResizeCoordinates;
  const Tensor two = counted({1, 1, 2, 2}), wide = counted({1, 1, 2, 4}), four = counted({1, 1, 4, 4});
  expect_values({.mode = linear, .scales = {1, 1, 2, 2}}, two, {1, 1, 4, 4},
                {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  expect_values({.mode = linear, .coordinates = align_corners, .scales = {1, 1, 0.6f, 0.6f}}, wide, {1, 1, 1, 2},
                {1, 3.142857});
  expect_values({.scales = {1, 1, 0.6f, 0.6f}}, wide, {1, 1, 1, 2}, {1, 3});
  expect_values({.scales = {1, 1, 2, 3}}, two, {1, 1, 4, 6},
                {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3, 3, 4, 4, 4});
  expect_values({.mode = linear,
                 .coordinates = tf_crop_and_resize,
                 .sizes = {1, 1, 3, 3},
                 .roi = {0, 0, 0.4f, 0.6f, 1, 1, 0.6f, 0.8f}},
                four, {1, 1, 3, 3}, {7.6, 7.9, 8.2, 8.8, 9.1, 9.4, 10, 10.3, 10.6});
  expect_values({.mode = linear, .antialias = true, .scales = {1, 1, 0.6f, 0.6f}}, four, {1, 1, 2, 2},
                {2.875, 4.5, 9.375, 11});
  expect_values({.mode = cubic, .antialias = true, .scales = {1, 1, 0.6f, 0.6f}}, four, {1, 1, 2, 2},
                {2.5180721, 4.2858863, 9.589329, 11.357142});
  expect_values({.mode = linear, .coordinates = half_pixel_symmetric, .scales = {2.3f, 2.94f}, .axes = {2, 3}}, two,
                {1, 1, 4, 5}, {1,          1.15986395, 1.5,        1.84013605, 2,          1.56521738, 1.72508133,
                               2.06521738, 2.40535343, 2.56521738, 2.43478262, 2.59464657, 2.93478262, 3.27491867,
                               3.43478262, 3,          3.15986395, 3.5,        3.84013605, 4});
}

TEST(CpuResize, CubicExampleOfOnnxsDocumentation) {
  const Tensor four = counted({1, 1, 4, 4});
  const Tensor y = run(ResizeOp{.mode = SampleMode::cubic, .scales = {1, 1, 2, 2}}, {&four});
  const float row[] = {0.47265625f, 0.76953125f, 1.24609375f, 1.875f, 2.28125f, 2.91015625f, 3.38671875f, 3.68359375f};
  for (size_t i = 0; i < 8; ++i) EXPECT_FLOAT_EQ(y.values<float>()[i], row[i]);
}

TEST(CpuResize, AspectRatioIsKept) {
  const Tensor x = counted({1, 1, 2, 4});
  ResizeOp op{.sizes = {7, 8}, .axes = {2, 3}};
  op.aspect_ratio = AspectRatio::not_larger;
  EXPECT_EQ(run(op, {&x}).shape(), (Shape{1, 1, 4, 8}));
  op.aspect_ratio = AspectRatio::not_smaller;
  EXPECT_EQ(run(op, {&x}).shape(), (Shape{1, 1, 7, 14}));
}

/// One axis as in ONNX's reference: all neighbors, weighted by a function of their distance.
struct AxisDefinition {
  const ResizeOp& op;
  ResizedAxis axis;
  int64_t size;

  double coordinate(int64_t place) const {
    const auto x = static_cast<double>(place), in = static_cast<double>(size), scale = double{axis.scale};
    const double length = axis.length;
    switch (op.coordinates) {
      case ResizeCoordinates::half_pixel:
        return (x + 0.5) / scale - 0.5;
      case ResizeCoordinates::half_pixel_symmetric:
        return in / 2 * (1 - static_cast<double>(axis.size) / length) + (x + 0.5) / scale - 0.5;
      case ResizeCoordinates::pytorch_half_pixel:
        return axis.size == 1 ? 0 : (x + 0.5) / scale - 0.5;
      case ResizeCoordinates::align_corners:
        return length == 1 ? 0 : x * (in - 1) / (length - 1);
      case ResizeCoordinates::asymmetric:
        return x / scale;
      case ResizeCoordinates::tf_half_pixel_for_nn:
        return (x + 0.5) / scale;
      case ResizeCoordinates::tf_crop_and_resize: {
        const double start = axis.roi_start, end = axis.roi_end;
        return length == 1 ? (start + end) * (in - 1) / 2
                           : start * (in - 1) + x * (end - start) * (in - 1) / (length - 1);
      }
    }
    return 0;
  }

  bool outside(int64_t place) const {
    if (op.coordinates != ResizeCoordinates::tf_crop_and_resize) return false;
    return coordinate(place) < 0 || coordinate(place) > static_cast<double>(size - 1);
  }

  std::vector<double> weights(int64_t place) const {
    std::vector<double> result(static_cast<size_t>(size));
    const double x = coordinate(place);
    if (op.mode == SampleMode::nearest) {
      double at = std::floor(x);
      const double rest = x - at;
      if (op.nearest == NearestRule::round_prefer_floor && rest > 0.5) at += 1;
      if (op.nearest == NearestRule::round_prefer_ceil && rest >= 0.5) at += 1;
      const bool ceil = op.nearest == NearestRule::ceil || (op.nearest == NearestRule::simple && axis.scale < 1);
      if (ceil && rest > 0) at += 1;
      result[static_cast<size_t>(std::clamp(at, 0.0, static_cast<double>(size - 1)))] = 1;
      return result;
    }
    const double shrink = op.antialias ? std::min(1.0, double{axis.scale}) : 1;
    double sum = 0;
    for (int64_t i = -3 * size - 10; i < 4 * size + 10; ++i) {
      if (op.exclude_outside && (i < 0 || i >= size)) continue;
      const double d = std::fabs(static_cast<double>(i) - x) * shrink, a = op.cubic_coeff_a;
      double weight = 0;
      if (op.mode == SampleMode::linear) {
        weight = std::max(0.0, 1 - d);
      } else if (d < 1) {
        weight = (a + 2) * d * d * d - (a + 3) * d * d + 1;
      } else if (d < 2) {
        weight = a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
      }
      sum += weight;
      result[static_cast<size_t>(std::clamp<int64_t>(i, 0, size - 1))] += weight;
    }
    for (double& weight : result) weight /= sum;
    return result;
  }
};

void expect_resized(const ResizeOp& op, const Tensor& x) {
  const Shape shape = step_of(op, {&x}).outputs[0].shape;
  const std::vector<ResizedAxis> axes = resized_axes(op, x.shape());
  std::vector<std::vector<std::vector<double>>> weights(x.shape().size());
  std::vector<std::vector<bool>> outside(x.shape().size());
  for (size_t i = 0; i < x.shape().size(); ++i) {
    for (int64_t place = 0; place < shape[i]; ++place) {
      const AxisDefinition axis{op, axes[i], x.shape()[i]};
      outside[i].push_back(axes[i].changes && axis.outside(place));
      std::vector<double> own(static_cast<size_t>(x.shape()[i]), 0);
      if (!axes[i].changes) own[static_cast<size_t>(place)] = 1;
      weights[i].push_back(axes[i].changes ? axis.weights(place) : own);
    }
  }
  expect_near(run(op, {&x}), shape, 2e-5, [&](const Index& index) {
    for (size_t i = 0; i < index.size(); ++i) {
      if (outside[i][static_cast<size_t>(index[i])]) return double{op.extrapolation_value};
    }
    double sum = 0;
    for_each(x.shape(), [&](const Index& from, size_t flat) {
      double weight = 1;
      for (size_t i = 0; i < from.size(); ++i) {
        weight *= weights[i][static_cast<size_t>(index[i])][static_cast<size_t>(from[i])];
      }
      sum += weight * x.values<float>()[flat];
    });
    return sum;
  });
}

TEST(CpuResize, EveryModeAndRule) {
  for (int mode = 0; mode < 3; ++mode) {
    for (int coordinates = 0; coordinates < 7; ++coordinates) {
      for (int variant = 0; variant < 5; ++variant) {
        ResizeOp op{.mode = static_cast<SampleMode>(mode), .coordinates = static_cast<ResizeCoordinates>(coordinates)};
        op.nearest = static_cast<NearestRule>(variant);
        op.antialias = variant % 2 == 1;
        op.exclude_outside = variant >= 3;
        op.cubic_coeff_a = variant == 2 ? -0.5f : -0.75f;
        op.extrapolation_value = 7;
        if (op.coordinates == ResizeCoordinates::tf_crop_and_resize) op.roi = {0.125f, -0.25f, 0.75f, 1.25f};
        op.axes = {1, -1};
        SCOPED_TRACE(fmt::format("mode {}, coordinates {}, variant {}", mode, coordinates, variant));
        const Tensor x = random({2, 6, 2, 5}, 7);
        // Factors with coordinates that are clearly between elements, or exactly on or halfway between them.
        for (const std::vector<float>& scales :
             {std::vector<float>{2, 0.5f}, {0.4375f, 2.75f}, {1, 3}, {0.25f, 1.3125f}}) {
          op.sizes.clear();
          op.scales = scales;
          expect_resized(op, x);
        }
        op.scales.clear();
        op.sizes = {3, 10};
        expect_resized(op, x);
      }
    }
  }
}

TEST(CpuResize, AnyRank) {
  expect_resized({.mode = SampleMode::linear, .sizes = {9}}, random({4}, 8));
  expect_resized({.mode = SampleMode::cubic, .scales = {1, 1, 2, 1.5f, 2}}, random({1, 2, 3, 4, 3}, 9));
  expect_resized({.scales = {1, 1}}, random({3, 4}, 10));
  expect_resized({.mode = SampleMode::linear, .scales = {1, 1, 3, 2}}, random({2, 3, 12, 10}, 11));
}

TEST(CpuResize, WhatAPlaceDoesNotSeeMayBeNan) {
  const Tensor x = filled({3}, {1, kNan, 3});
  const double wanted[] = {1, kNan, kNan, kNan, 3};
  expect_near(
      run(ResizeOp{.mode = SampleMode::linear, .coordinates = ResizeCoordinates::align_corners, .sizes = {5}}, {&x}),
      {5}, 0, [&](const Index& i) { return wanted[i[0]]; });
}

TEST(CpuResize, RefusesInWords) {
  const Tensor x = random({2, 3, 4, 5}, 12);
  for (const ResizeOp& wrong :
       {ResizeOp{}, ResizeOp{.scales = {2, 2}}, ResizeOp{.scales = {1, 1, 0, 2}}, ResizeOp{.scales = {1, 1, kNan, 2}},
        ResizeOp{.scales = {1, 1, 0.1f, 2}}, ResizeOp{.scales = {1, 1, 1e30f, 2}}, ResizeOp{.sizes = {2, 3, 0, 5}},
        ResizeOp{.sizes = {2, 2}, .axes = {2, -2}}, ResizeOp{.sizes = {2}, .axes = {4}},
        ResizeOp{.coordinates = ResizeCoordinates::tf_crop_and_resize, .sizes = {2}, .axes = {2}},
        ResizeOp{.scales = {1}, .sizes = {2}, .axes = {2}}}) {
    EXPECT_THROW(step_of(wrong, {&x}), Error);
  }
}

// GridSample.

struct GridDefinition {
  const GridSampleOp& op;
  int64_t size;

  double low() const { return op.align_corners ? 0 : -0.5; }
  double high() const { return static_cast<double>(size) - (op.align_corners ? 1 : 0.5); }
  double mirrored(double x) const {
    if (low() == high()) return low();
    while (x < low() || x > high()) x = x < low() ? 2 * low() - x : 2 * high() - x;
    return x;
  }

  /// Returns the weight of each pixel at a coordinate between -1 and 1.
  std::vector<double> weights(double place) const {
    std::vector<double> result(static_cast<size_t>(size));
    const auto last = static_cast<double>(size - 1);
    double x = op.align_corners ? (place + 1) / 2 * last : ((place + 1) * (last + 1) - 1) / 2;
    if (op.mode == SampleMode::nearest) x = std::nearbyint(x);
    if (x < low() || x > high()) {
      if (op.padding == SamplePadding::border) x = std::clamp(x, 0.0, last);
      if (op.padding == SamplePadding::reflection) x = mirrored(x);
    }
    for (double i = std::floor(x) - 2; i <= std::floor(x) + 3; ++i) {
      const double d = std::fabs(i - x), a = -0.75;
      double weight = 0;
      if (op.mode == SampleMode::nearest) weight = std::nearbyint(x) == i ? 1 : 0;
      if (op.mode == SampleMode::linear) weight = std::max(0.0, 1 - d);
      if (op.mode == SampleMode::cubic && d < 2) {
        weight = d < 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1 : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
      }
      if (op.padding == SamplePadding::zeros && (i < 0 || i > last)) continue;
      const double pixel = op.padding == SamplePadding::reflection ? std::trunc(mirrored(i)) : i;
      result[static_cast<size_t>(std::clamp(pixel, 0.0, last))] += weight;
    }
    return result;
  }
};

TEST(CpuGridSample, EveryModePaddingAndAlignment) {
  const Tensor x = random({2, 3, 5, 7}, 13);
  Tensor grid = random({2, 4, 6, 2}, 14);
  for (float& value : grid.values<float>()) value *= 2.5f;
  for (size_t i = 0; i < 12; ++i) grid.values<float>()[i] = static_cast<float>(i / 2) / 2.5f - 1;  // on pixels, too
  for (int mode = 0; mode < 3; ++mode) {
    for (int padding = 0; padding < 3; ++padding) {
      for (const bool align : {false, true}) {
        SCOPED_TRACE(fmt::format("mode {}, padding {}, align {}", mode, padding, align));
        const GridSampleOp op{static_cast<SampleMode>(mode), static_cast<SamplePadding>(padding), align};
        expect_near(run(op, {&x, &grid}), {2, 3, 4, 6}, 1e-6, [&](const Index& index) {
          const std::vector<double> rows = GridDefinition{op, 5}.weights(at(grid, {index[0], index[2], index[3], 1}));
          const std::vector<double> columns =
              GridDefinition{op, 7}.weights(at(grid, {index[0], index[2], index[3], 0}));
          double sum = 0;
          for (int64_t h = 0; h < 5; ++h) {
            for (int64_t w = 0; w < 7; ++w) {
              sum += rows[static_cast<size_t>(h)] * columns[static_cast<size_t>(w)] * at(x, {index[0], index[1], h, w});
            }
          }
          return sum;
        });
      }
    }
  }
}

TEST(CpuGridSample, PlacesThatAreNone) {
  const Tensor x = random({1, 1, 3, 3}, 15);
  const Tensor grid = filled({1, 1, 3, 2}, {kNan, 0, kInfinity, 0, -1e30f, 1e30f});
  const double zeros[] = {kNan, 0, 0}, border[] = {kNan, at(x, {0, 0, 1, 2}), at(x, {0, 0, 2, 0})};
  expect_near(run(GridSampleOp{}, {&x, &grid}), {1, 1, 1, 3}, 0, [&](const Index& i) { return zeros[i[3]]; });
  expect_near(run(GridSampleOp{.padding = SamplePadding::border}, {&x, &grid}), {1, 1, 1, 3}, 0,
              [&](const Index& i) { return border[i[3]]; });
  const Tensor reflected = run(GridSampleOp{.padding = SamplePadding::reflection}, {&x, &grid});
  EXPECT_TRUE(std::isnan(reflected.values<float>()[1]));
}

}  // namespace
}  // namespace convlab
