// Depthwise convolutions with channels in vectors (DepthwiseBand in depthwise_band.h), for any element type. `Form` has
// the element type, loads and stores, kStep, the elements between pixels (0 if the band specifies them), swish, and the
// loop over vectors of channels.
//
// Included once for each instruction set, after convlab/kernels/cpu/simd/simd.h and hwy/foreach_target.h; hence no
// #pragma once.

#if defined(CONVLAB_KERNELS_CPU_CHANNELS_DEPTHWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef CONVLAB_KERNELS_CPU_CHANNELS_DEPTHWISE_INL_H_
#undef CONVLAB_KERNELS_CPU_CHANNELS_DEPTHWISE_INL_H_
#else
#define CONVLAB_KERNELS_CPU_CHANNELS_DEPTHWISE_INL_H_
#endif

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw8c/clamped-inl.h"
#include "convlab/kernels/cpu/nchw8c/depthwise_band.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// One output row of a band.
template <class Form>
struct DepthwiseRow {
  using Element = typename Form::Element;

  const DepthwiseBand<Element>& band;
  Form form;
  const Element* x = nullptr;  ///< the image's row under the first filter row that lies inside
  int64_t row_step = 0;        ///< elements from there to the image row under the next filter row
  const float* w = nullptr;    ///< weights of that filter row
  int64_t rows = 0;            ///< filter rows that lie inside
  const Element* added = nullptr;
  Element* y = nullptr;

  HWY_INLINE int64_t x_step() const { return Form::kStep != 0 ? Form::kStep : band.x_step; }
  HWY_INLINE int64_t w_step() const { return Form::kStep != 0 ? Form::kStep : band.w_step; }
  HWY_INLINE int64_t added_step() const { return Form::kStep != 0 ? Form::kStep : band.added_step; }
  HWY_INLINE int64_t y_step() const { return Form::kStep != 0 ? Form::kStep : band.y_step; }
};

/// Applies the activation to vectors in memory. Not inlined: it is long, and every tile would contain it once per
/// pixel.
template <class Form, class D>
HWY_NOINLINE void activate_vectors(D d, const Activation& activation, float* vectors, size_t count) {
  if (activation.kind == ActivationKind::swish) {  // the common case
    for (size_t i = 0; i < count; ++i, vectors += hn::Lanes(d)) {
      hn::Store(Form::swish(d, hn::Load(d, vectors)), d, vectors);
    }
    return;
  }
  for (size_t i = 0; i < count; ++i, vectors += hn::Lanes(d)) {
    hn::Store(activated(d, activation, hn::Load(d, vectors)), d, vectors);
  }
}

/// The epilogue of outputs from index `output` on. What it needs of the row is read before anything is stored.
template <class Form, class D, size_t kPixels>
HWY_INLINE void finish(D d, const DepthwiseRow<Form>& row, const hn::Vec<D> (&sum)[kPixels], int64_t output,
                       int64_t channel) {
  const auto low = hn::Set(d, row.band.clamp.low), high = hn::Set(d, row.band.clamp.high);
  const Activation* const activation = row.band.activation;
  const int64_t y_step = row.y_step(), added_step = row.added_step();
  auto* const y = row.y + output * y_step + channel;
  const auto* const added = row.added != nullptr ? row.added + output * added_step + channel : nullptr;
  constexpr size_t kLanes = hn::MaxLanes(D());
  HWY_ALIGN float activating[kPixels * kLanes];
#pragma GCC unroll 8
  for (size_t i = 0; i < kPixels; ++i) {
    hn::Vec<D> result = sum[i];
    if (added != nullptr) result = hn::Add(result, Form::load(d, added + static_cast<int64_t>(i) * added_step));
    if (activation == nullptr) {
      row.form.store(d, clamped(result, low, high), y + static_cast<int64_t>(i) * y_step);
    } else {
      hn::Store(result, d, activating + i * kLanes);
    }
  }
  if (activation == nullptr) return;
  activate_vectors<Form>(d, *activation, activating, kPixels);
#pragma GCC unroll 8
  for (size_t i = 0; i < kPixels; ++i) {
    row.form.store(d, hn::Load(d, activating + i * kLanes), y + static_cast<int64_t>(i) * y_step);
  }
}

/// Sums adjacent outputs; the first tap of the first one is at `column`. A filter row stays in registers, and each
/// image column is read once. Unless kInside, columns may lie outside the image.
template <int kTaps, int kStride, int kPixels, bool kInside, class Form, class D>
HWY_INLINE void sum_tile(D d, const DepthwiseRow<Form>& row, int64_t column, int64_t output, int64_t channel) {
  using V = hn::Vec<D>;
  V sum[kPixels], weight[kTaps];
  const V bias = hn::LoadU(d, row.band.bias + channel);
#pragma GCC unroll 8
  for (int i = 0; i < kPixels; ++i) sum[i] = bias;
  const int64_t x_step = row.x_step(), w_step = row.w_step(), width = row.band.problem.w;
  const auto* x = row.x + column * x_step + channel;
  const float* w = row.w + channel;
  for (int64_t r = 0; r < row.rows; ++r, x += row.row_step, w += kTaps * w_step) {
#pragma GCC unroll 8
    for (int s = 0; s < kTaps; ++s) weight[s] = hn::LoadU(d, w + s * w_step);
#pragma GCC unroll 32
    for (int j = 0; j < (kPixels - 1) * kStride + kTaps; ++j) {
      if (!kInside && (column + j < 0 || column + j >= width)) continue;
      const V pixel = Form::load(d, x + j * x_step);
#pragma GCC unroll 8
      for (int i = 0; i < kPixels; ++i) {
        const int s = j - i * kStride;
        if (s >= 0 && s < kTaps) sum[i] = hn::MulAdd(weight[s], pixel, sum[i]);
      }
    }
  }
  finish(d, row, sum, output, channel);
}

template <class Form, int kTaps, int kStride, int kPixels>
void tile(const DepthwiseRow<Form>& row, int64_t output) {
  const int64_t column = output * kStride - row.band.problem.pad_left;
  const bool inside = column >= 0 && column + (kPixels - 1) * kStride + kTaps <= row.band.problem.w;
  Form::for_channels(row.band.channels, [&](auto d, int64_t channel) HWY_ATTR {
    if (inside) {
      sum_tile<kTaps, kStride, kPixels, true>(d, row, column, output, channel);
    } else {
      sum_tile<kTaps, kStride, kPixels, false>(d, row, column, output, channel);
    }
  });
}

/// One output, for any filter.
template <class Form>
void pixel(const DepthwiseRow<Form>& row, int64_t output) {
  const ConvProblem& problem = row.band.problem;
  const int64_t column = output * problem.stride_w - problem.pad_left, x_step = row.x_step();
  Form::for_channels(row.band.channels, [&](auto d, int64_t channel) HWY_ATTR {
    hn::Vec<decltype(d)> sum[1] = {hn::LoadU(d, row.band.bias + channel)};
    for (int64_t r = 0; r < row.rows; ++r) {
      for (int64_t s = 0; s < problem.s; ++s) {
        const int64_t at = column + s * problem.dilation_w;
        if (at < 0 || at >= problem.w) continue;
        const auto weight = hn::LoadU(d, row.w + (r * problem.s + s) * row.w_step() + channel);
        sum[0] = hn::MulAdd(weight, Form::load(d, row.x + r * row.row_step + at * x_step + channel), sum[0]);
      }
    }
    finish(d, row, sum, output, channel);
  });
}

/// Calls compute(row) for each row of a band.
template <class Form, class Compute>
HWY_INLINE void for_each_row(const DepthwiseBand<typename Form::Element>& band, Form form, const Compute& compute) {
  const ConvProblem& problem = band.problem;
  DepthwiseRow<Form> row{.band = band, .form = form, .added = band.added, .y = band.y};
  const int64_t image_row = problem.w * row.x_step();
  row.row_step = problem.dilation_h * image_row;
  for (int64_t p = band.first; p < band.first + band.count; ++p) {
    const int64_t top = p * problem.stride_h - problem.pad_top;
    int64_t above = 0, inside = problem.r;
    for (; above < problem.r && top + above * problem.dilation_h < 0;) ++above;
    for (; inside > above && top + (inside - 1) * problem.dilation_h >= problem.h;) --inside;
    row.x = band.x + (top + above * problem.dilation_h) * image_row;
    row.w = band.w + above * problem.s * row.w_step();
    row.rows = inside - above;
    compute(row);
    row.y += problem.q() * row.y_step();
    if (row.added != nullptr) row.added += problem.q() * row.added_step();
  }
}

/// Splits rows evenly into tiles of at most kMost pixels: so many sums and a filter row fit 16 registers.
template <class Form, int kTaps, int kStride>
void band_of_tiles(const DepthwiseBand<typename Form::Element>& band, Form form) {
  constexpr int kMost = kTaps < 7 ? 8 : 7;
  constexpr auto kTiles = by_count<kMost>([](auto pixels) { return &tile<Form, kTaps, kStride, pixels>; });
  const int64_t outputs = band.problem.q(), tiles = ceil_div(outputs, kMost);
  const int64_t pixels = ceil_div(outputs, tiles), full = outputs - tiles * (pixels - 1);
  for_each_row(band, form, [&](const DepthwiseRow<Form>& row) {
    int64_t output = 0;
    for (int64_t i = 0; i < full; ++i, output += pixels) kTiles[static_cast<size_t>(pixels - 1)](row, output);
    for (; output < outputs; output += pixels - 1) kTiles[static_cast<size_t>(pixels - 2)](row, output);
  });
}

template <class Form>
void any_band(const DepthwiseBand<typename Form::Element>& band, Form form) {
  const ConvProblem& problem = band.problem;
#if HWY_TARGET != HWY_SCALAR  // scalar code has no registers to fill: tiles would only cost compile time
  if (problem.dilation_w == 1 && problem.stride_w == 1) {
    if (problem.s == 3) return band_of_tiles<Form, 3, 1>(band, form);
    if (problem.s == 5) return band_of_tiles<Form, 5, 1>(band, form);
    if (problem.s == 7) return band_of_tiles<Form, 7, 1>(band, form);
  }
  if (problem.dilation_w == 1 && problem.stride_w == 2) {
    if (problem.s == 3) return band_of_tiles<Form, 3, 2>(band, form);
    if (problem.s == 5) return band_of_tiles<Form, 5, 2>(band, form);
  }
#endif
  for_each_row(band, form, [&](const DepthwiseRow<Form>& row) {
    for (int64_t q = 0; q < problem.q(); ++q) pixel(row, q);
  });
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
