// Pools rows of feature maps.

#include "convlab/kernels/cpu/simd/pool_rows.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "convlab/kernels/cpu/simd/pool_axis.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/simd/pool_rows.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, 16>;
using Half = hn::CappedTag<float, 8>;  // feature maps before the last pooling are a dozen elements wide

inline float larger_or_nan(float most, float value) { return value > most || value != value ? value : most; }

/// most[i] = the larger of most[i] and x[i * kStride], NaN if either is. The last vector may overlap the one before,
/// which changes nothing; with a stride of 2 it reads one element beyond the last that it uses.
template <int64_t kStride>
void take_larger_each(const float* x, float* most, int64_t count) {
  const Half d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  if (count < lanes) {
    for (int64_t i = 0; i < count; ++i) most[i] = larger_or_nan(most[i], x[i * kStride]);
    return;
  }
  for (int64_t i = 0; i < count; i += lanes) {
    const int64_t at = std::min(i, count - lanes);
    hn::Vec<Half> values, skipped;
    if constexpr (kStride == 1) {
      values = hn::LoadU(d, x + at);
    } else {
      hn::LoadInterleaved2(d, x + 2 * at, values, skipped);
    }
    hn::StoreU(max_or_nan(hn::LoadU(d, most + at), values), d, most + at);
  }
}

void take_larger(const float* x, int64_t stride, float* most, int64_t count) {
  if (stride == 1) return take_larger_each<1>(x, most, count);
  if (stride == 2) return take_larger_each<2>(x, most, count);
  for (int64_t i = 0; i < count; ++i) most[i] = larger_or_nan(most[i], x[i * stride]);
}

/// out[j] = the maximum of above[2j], above[2j + 1], below[2j], below[2j + 1]; NaN propagates.
void max_2x2_row(const float* above, const float* below, float* out, int64_t count) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= count; j += lanes) {
    hn::Vec<F> a, b, e, f;
    hn::LoadInterleaved2(d, above + 2 * j, a, b);
    hn::LoadInterleaved2(d, below + 2 * j, e, f);
    hn::StoreU(max_of_four_or_nan(a, b, e, f), d, out + j);
  }
  for (; j < count; ++j) {
    float largest = above[2 * j];
    for (const float value : {above[2 * j + 1], below[2 * j], below[2 * j + 1]})
      largest = larger_or_nan(largest, value);
    out[j] = largest;
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(take_larger);
HWY_EXPORT(max_2x2_row);

/// The windows of a feature map, and the part of the feature map that is in memory.
struct Windows {
  PoolAxis h, w;
  const float* map;
  int64_t first_row;

  const float* row(int64_t place) const { return map + (place - first_row) * w.size; }
};

/// Maxima over the window's rows, column by column, then over adjacent columns: a 3x3 window takes four comparisons per
/// element of the feature map rather than nine per output. `columns` is scratch for a row of the feature map plus one
/// element.
void largest(const Windows& windows, int64_t p, float* columns, float* y) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  const PoolAxis &h = windows.h, &w = windows.w;
  std::fill(columns, columns + w.size + 1, kLeast);
  const Taps rows = h.taps_inside(p);
  for (int64_t r = rows.first; r < rows.last; ++r) {
    HWY_DYNAMIC_DISPATCH(take_larger)(windows.row(h.place(p, r)), 1, columns, w.size);
  }
  std::fill(y, y + w.outputs, kLeast);
  w.for_taps([&](int64_t s, int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(take_larger)(columns + w.place(first, s), w.stride, y + first, last - first);
  });
}

float average(const Windows& windows, int64_t p, int64_t q, bool padding_counts) {
  const PoolAxis &h = windows.h, &w = windows.w;
  const Taps rows = h.taps_inside(p), columns = w.taps_inside(q);
  double sum = 0;
  for (int64_t r = rows.first; r < rows.last; ++r) {
    const float* row = windows.row(h.place(p, r));
    for (int64_t s = columns.first; s < columns.last; ++s) sum += row[w.place(q, s)];
  }
  return static_cast<float>(sum / static_cast<double>(h.counted(p, padding_counts) * w.counted(q, padding_counts)));
}

}  // namespace

RowRange rows_pooled_into(const Pool& pool, RowRange outputs, int64_t height) {
  const int64_t last = outputs.first + outputs.count - 1;
  const int64_t begin = std::clamp<int64_t>(outputs.first * pool.stride_h - pool.pad_top, 0, height);
  const int64_t end = std::clamp<int64_t>(
      last * pool.stride_h - pool.pad_top + (pool.kernel_h - 1) * pool.dilation_h + 1, begin, height);
  return {begin, end - begin};
}

void pool_rows(const Pool& pool, const float* map, RowRange have, int64_t height, int64_t width, RowRange outputs,
               float* y) {
  const Windows windows{
      {height, pool.output_h(height), pool.kernel_h, pool.stride_h, pool.dilation_h, pool.pad_top, pool.pad_bottom},
      {width, pool.output_w(width), pool.kernel_w, pool.stride_w, pool.dilation_w, pool.pad_left, pool.pad_right},
      map,
      have.first};
  const int64_t columns = windows.w.outputs;
  std::vector<float> scratch;
  if (pool.kind == PoolKind::max && !pool.is_max_2x2()) scratch.resize(static_cast<size_t>(width) + 1);
  for (int64_t p = outputs.first; p < outputs.first + outputs.count; ++p, y += columns) {
    if (pool.is_max_2x2()) {
      const float* above = windows.row(2 * p);
      HWY_DYNAMIC_DISPATCH(max_2x2_row)(above, above + width, y, columns);
    } else if (pool.kind == PoolKind::max) {
      largest(windows, p, scratch.data(), y);
    } else {
      for (int64_t q = 0; q < columns; ++q) y[q] = average(windows, p, q, pool.count_include_pad);
    }
  }
}

}  // namespace convlab
#endif  // HWY_ONCE
