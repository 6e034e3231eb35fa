// Winograd transforms of pixels, filters and sums in nchw8c.

#include "convlab/kernels/cpu/nchw8c/winograd_tiles.h"

#include <algorithm>

#include "convlab/kernels/cpu/nchw8c/point_products.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw8c/winograd_tiles.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F8 = hn::CappedTag<float, kChannelLanes>;
using V8 = hn::Vec<F8>;

constexpr float kA = kWinogradA, kB = kWinogradB;

/// B' x, for 6 and 4 pixels of a row or a column.
HWY_INLINE void to_points(const V8 (&x)[6], V8 (&to)[6]) {
  const F8 d;
  const V8 a = hn::Set(d, kA), b = hn::Set(d, kB), a2 = hn::Set(d, kA * kA), b2 = hn::Set(d, kB * kB);
  const V8 sum = hn::Set(d, kA * kA + kB * kB), product = hn::Set(d, kA * kA * kB * kB);
  to[0] = hn::MulAdd(product, x[0], hn::NegMulAdd(sum, x[2], x[4]));
  const V8 even_a = hn::NegMulAdd(b2, x[2], x[4]), odd_a = hn::NegMulAdd(b2, x[1], x[3]);
  to[1] = hn::MulAdd(a, odd_a, even_a);
  to[2] = hn::NegMulAdd(a, odd_a, even_a);
  const V8 even_b = hn::NegMulAdd(a2, x[2], x[4]), odd_b = hn::NegMulAdd(a2, x[1], x[3]);
  to[3] = hn::MulAdd(b, odd_b, even_b);
  to[4] = hn::NegMulAdd(b, odd_b, even_b);
  to[5] = hn::MulAdd(product, x[1], hn::NegMulAdd(sum, x[3], x[5]));
}
HWY_INLINE void to_points(const V8 (&x)[4], V8 (&to)[4]) {
  to[0] = hn::Sub(x[2], x[0]);
  to[1] = hn::Add(x[2], x[1]);
  to[2] = hn::Sub(x[2], x[1]);
  to[3] = hn::Sub(x[3], x[1]);
}

/// A' m, for 6 and 4 points.
HWY_INLINE void from_points(const V8 (&m)[6], V8 (&to)[4]) {
  const F8 d;
  const V8 even_a = hn::Add(m[1], m[2]), odd_a = hn::Sub(m[1], m[2]);
  const V8 even_b = hn::Add(m[3], m[4]), odd_b = hn::Sub(m[3], m[4]);
  to[0] = hn::Add(m[0], hn::Add(even_a, even_b));
  to[1] = hn::MulAdd(hn::Set(d, kA), odd_a, hn::Mul(hn::Set(d, kB), odd_b));
  to[2] = hn::MulAdd(hn::Set(d, kA * kA), even_a, hn::Mul(hn::Set(d, kB * kB), even_b));
  to[3] = hn::MulAdd(hn::Set(d, kA * kA * kA), odd_a, hn::MulAdd(hn::Set(d, kB * kB * kB), odd_b, m[5]));
}
HWY_INLINE void from_points(const V8 (&m)[4], V8 (&to)[2]) {
  to[0] = hn::Add(m[0], hn::Add(m[1], m[2]));
  to[1] = hn::Add(hn::Sub(m[1], m[2]), m[3]);
}

/// Transforms a tile of 8 channels.
template <int kSide>
HWY_INLINE void tile_to_points(const float* x, int64_t row_step, float* to, int64_t point_step) {
  const F8 d;
  for (int64_t part = 0; part < kChannelLanes; part += static_cast<int64_t>(hn::Lanes(d))) {
    V8 half[kSide][kSide];  // with transformed columns: [column][point]
#pragma GCC unroll 6
    for (int j = 0; j < kSide; ++j) {
      V8 column[kSide];
#pragma GCC unroll 6
      for (int i = 0; i < kSide; ++i) column[i] = hn::LoadU(d, x + i * row_step + j * kChannelLanes + part);
      to_points(column, half[j]);
    }
#pragma GCC unroll 6
    for (int i = 0; i < kSide; ++i) {
      V8 row[kSide], points[kSide];
#pragma GCC unroll 6
      for (int j = 0; j < kSide; ++j) row[j] = half[j][i];
      to_points(row, points);
#pragma GCC unroll 6
      for (int j = 0; j < kSide; ++j) hn::Store(points[j], d, to + (i * kSide + j) * point_step + part);
    }
  }
}

/// Copies the part of a tile at (top, left) that is inside the image; the remaining pixels are zero.
template <int kSide>
void copy_tile(const ConvProblem& problem, const float* plane, int64_t top, int64_t left, float* to) {
  const int64_t begin = std::clamp<int64_t>(-left, 0, kSide), end = std::clamp<int64_t>(problem.w - left, begin, kSide);
  std::fill_n(to, kSide * kSide * kChannelLanes, 0.0f);
  for (int64_t i = std::max<int64_t>(-top, 0); i < std::min<int64_t>(problem.h - top, kSide); ++i) {
    std::copy_n(plane + ((top + i) * problem.w + left + begin) * kChannelLanes, (end - begin) * kChannelLanes,
                to + (i * kSide + begin) * kChannelLanes);
  }
}

template <int kSide>
void range_to_points(const WinogradTileRange& range, int64_t begin, int64_t end, float* to, int64_t block_step) {
  const ConvStep& step = range.args.step;
  const ConvProblem& problem = step.problem;
  const int64_t plane_count = problem.h * problem.w * kChannelLanes;
  const int64_t image_count = image_step(step.input_step, problem.input_shape());
  HWY_ALIGN float copied[kSide * kSide * kChannelLanes];
  for (int64_t block = begin; block < end; ++block) {
    TilePlace place(range.tiles, range.first);
    float* at = to + block * block_step;
    for (int64_t t = 0; t < range.count; ++t, place.advance(range.tiles), at += kChannelLanes) {
      const float* const plane =
          static_cast<const float*>(range.args.x) + place.image * image_count + block * plane_count;
      const int64_t top = place.row * (kSide - 2) - problem.pad_top;
      const int64_t left = place.column * (kSide - 2) - problem.pad_left;
      if (top >= 0 && left >= 0 && top + kSide <= problem.h && left + kSide <= problem.w) {
        tile_to_points<kSide>(plane + (top * problem.w + left) * kChannelLanes, problem.w * kChannelLanes, at,
                              range.point_step);
      } else {
        copy_tile<kSide>(problem, plane, top, left, copied);
        tile_to_points<kSide>(copied, kSide * kChannelLanes, at, range.point_step);
      }
    }
  }
}

HWY_INLINE V8 clamped(const Clamp& clamp, V8 x) {
  const F8 d;
  const V8 low = hn::Set(d, clamp.low), high = hn::Set(d, clamp.high);
  if constexpr (kSecondOfNan) return hn::Min(high, hn::Max(low, x));
  x = hn::IfThenElse(hn::Lt(x, low), low, x);
  return hn::IfThenElse(hn::Gt(x, high), high, x);
}

/// The epilogue of each output: activation(sum + bias + added).
template <bool kAdds, bool kClamps>
class Finish {
 public:
  Finish(const Activation& activation, const float* bias)
      : activation_(activation), clamp_(clamp_of(activation).value_or(Clamp{})), bias_(bias) {}

  /// Finishes the lanes from `part` on of 8 output channels of a pixel.
  HWY_INLINE void operator()(V8 sum, int64_t part, const float* added, float* y) const {
    const F8 d;
    V8 value = bias_ != nullptr ? hn::Add(sum, hn::LoadU(d, bias_ + part)) : sum;
    if constexpr (kAdds) value = hn::Add(value, hn::LoadU(d, added + part));
    if constexpr (kClamps) {
      value = clamped(clamp_, value);
    } else {
      value = activated(d, activation_, value);
    }
    hn::StoreU(value, d, y + part);
  }

 private:
  const Activation& activation_;
  const Clamp clamp_;
  const float* const bias_;  ///< of these 8 output channels, or nullptr
};

template <int kSide, bool kAdds, bool kClamps>
void range_from_points(const WinogradTileRange& range, int64_t map, const float* from) {
  constexpr int kOutputs = kSide - 2;
  const F8 d;
  const ConvStep& step = range.args.step;
  const ConvProblem& problem = step.problem;
  const int64_t p = problem.p(), q = problem.q();
  const int64_t added_image = image_step(step.added_step, problem.output_shape());
  const int64_t output_image = image_step(step.output_step, problem.output_shape());
  const Finish<kAdds, kClamps> finish(step.epilogue.activation, step.epilogue.bias ? range.args.bias + map : nullptr);
  TilePlace place(range.tiles, range.first);
  for (int64_t t = 0; t < range.count; ++t, place.advance(range.tiles), from += kPointPanelMaps) {
    const int64_t top = place.row * kOutputs, left = place.column * kOutputs;
    const int64_t height = std::min<int64_t>(p - top, kOutputs), width = std::min<int64_t>(q - left, kOutputs);
    const int64_t pixel = ((map / kChannelLanes * p + top) * q + left) * kChannelLanes;
    float* const y = range.args.y + place.image * output_image + pixel;
    const float* const added = kAdds ? range.args.added + place.image * added_image + pixel : nullptr;
    for (int64_t part = 0; part < kChannelLanes; part += static_cast<int64_t>(hn::Lanes(d))) {
      V8 half[kSide][kOutputs];  // with columns transformed back: [column of points][row]
#pragma GCC unroll 6
      for (int j = 0; j < kSide; ++j) {
        V8 column[kSide];
#pragma GCC unroll 6
        for (int i = 0; i < kSide; ++i) column[i] = hn::Load(d, from + (i * kSide + j) * range.point_step + part);
        from_points(column, half[j]);
      }
      for (int64_t i = 0; i < height; ++i) {
        V8 row[kSide], sums[kOutputs];
#pragma GCC unroll 6
        for (int j = 0; j < kSide; ++j) row[j] = half[j][i];
        from_points(row, sums);
        for (int64_t j = 0; j < width; ++j) {
          const int64_t at = (i * q + j) * kChannelLanes;
          finish(sums[j], part, kAdds ? added + at : nullptr, y + at);
        }
      }
    }
  }
}

template <int kSide>
void range_from_points(const WinogradTileRange& range, int64_t map, const float* from) {
  const bool clamps = clamp_of(range.args.step.epilogue.activation).has_value();
  if (range.args.step.adds) {
    (clamps ? range_from_points<kSide, true, true> : range_from_points<kSide, true, false>)(range, map, from);
  } else {
    (clamps ? range_from_points<kSide, false, true> : range_from_points<kSide, false, false>)(range, map, from);
  }
}

void any_to_points(const WinogradTileRange& range, int64_t begin, int64_t end, float* to, int64_t block_step) {
  (range.tiles.outputs == 4 ? range_to_points<6> : range_to_points<4>)(range, begin, end, to, block_step);
}

void any_from_points(const WinogradTileRange& range, int64_t map, const float* from) {
  (range.tiles.outputs == 4 ? range_from_points<6> : range_from_points<4>)(range, map, from);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(any_to_points);
HWY_EXPORT(any_from_points);

/// Returns G; its last row is for the point at infinity.
std::array<std::array<double, 3>, 6> filter_matrix(int64_t outputs) {
  const std::array<double, 5> points = outputs == 4
                                           ? std::array<double, 5>{0, kWinogradA, -kWinogradA, kWinogradB, -kWinogradB}
                                           : std::array<double, 5>{0, 1, -1};
  const auto finite = static_cast<size_t>(outputs + 1);
  std::array<std::array<double, 3>, 6> result{};
  for (size_t i = 0; i < finite; ++i) {
    double product = 1;
    for (size_t j = 0; j < finite; ++j) product *= i == j ? 1 : points[i] - points[j];
    result[i] = {1 / product, points[i] / product, points[i] * points[i] / product};
  }
  result[finite] = {0, 0, 1};
  return result;
}

}  // namespace

std::array<double, 36> winograd_filter_points(const float* filter, int64_t outputs) {
  const std::array<std::array<double, 3>, 6> matrix = filter_matrix(outputs);
  const auto side = static_cast<size_t>(outputs + 2);
  std::array<double, 36> result{};
  for (size_t i = 0; i < side; ++i) {
    for (size_t j = 0; j < side; ++j) {
      for (size_t r = 0; r < 3; ++r) {
        for (size_t s = 0; s < 3; ++s) {
          result[i * side + j] += matrix[i][r] * matrix[j][s] * static_cast<double>(filter[r * 3 + s]);
        }
      }
    }
  }
  return result;
}

void winograd_to_points(const WinogradTileRange& range, int64_t begin, int64_t end, float* to, int64_t block_step) {
  HWY_DYNAMIC_DISPATCH(any_to_points)(range, begin, end, to, block_step);
}

void winograd_from_points(const WinogradTileRange& range, int64_t map, const float* from) {
  HWY_DYNAMIC_DISPATCH(any_from_points)(range, map, from);
}

}  // namespace convlab
#endif  // HWY_ONCE
