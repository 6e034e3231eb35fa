// Pools a block of 8 channels in nchw8c with SIMD vectors.

#include "convlab/kernels/cpu/nchw8c/pool_block.h"

#include <limits>

#include "convlab/kernels/cpu/simd/pool_axis.h"
#include "convlab/kernels/cpu/simd/simd.h"
#include "convlab/tensor/format.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nchw8c/pool_block.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// A window's elements; the first one is at x.
struct Window {
  const float* x;
  int64_t rows, columns, row_step, column_step, counted;
};

// How a window's elements are combined, in vectors of `D`: none() is the value of no elements, load() reads an element,
// join() combines two values, and finish() stores the result.

struct Largest {
  using D = hn::CappedTag<float, 8>;
  using V = hn::Vec<D>;
  static HWY_INLINE V none() { return hn::Set(D(), -std::numeric_limits<float>::infinity()); }
  static HWY_INLINE V load(const float* x) { return hn::LoadU(D(), x); }
  static HWY_INLINE V join(V a, V b) { return max_or_nan(a, b); }
  static HWY_INLINE void finish(V most, const Window&, float* y) { hn::StoreU(most, D(), y); }
};

struct Average {
  using D = hn::CappedTag<double, 8>;
  using V = hn::Vec<D>;
  using Floats = hn::Rebind<float, D>;
  static HWY_INLINE V none() { return hn::Zero(D()); }
  static HWY_INLINE V load(const float* x) { return hn::PromoteTo(D(), hn::LoadU(Floats(), x)); }
  static HWY_INLINE V join(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE void finish(V sum, const Window& window, float* y) {
    const V average = hn::Div(sum, hn::Set(D(), static_cast<double>(window.counted)));
#if HWY_TARGET == HWY_SCALAR
    *y = static_cast<float>(hn::GetLane(average));  // its DemoteTo() turns infinities into finite numbers
#else
    hn::StoreU(hn::DemoteTo(Floats(), average), Floats(), y);
#endif
  }
};

/// Joins elements in four independent accumulators, because a mean of whole planes has one long window.
template <class Rule>
void one_window(const Window& window, float* y) {
  for (int64_t lane = 0; lane < kChannelLanes; lane += static_cast<int64_t>(hn::Lanes(typename Rule::D()))) {
    typename Rule::V a = Rule::none(), b = a, c = a, d = a;
    const float* row = window.x + lane;
    const int64_t step = window.column_step;
    for (int64_t r = 0; r < window.rows; ++r, row += window.row_step) {
      const float* x = row;
      int64_t s = 0;
      for (; s + 4 <= window.columns; s += 4, x += 4 * step) {
        a = Rule::join(Rule::load(x), a);
        b = Rule::join(Rule::load(x + step), b);
        c = Rule::join(Rule::load(x + 2 * step), c);
        d = Rule::join(Rule::load(x + 3 * step), d);
      }
      for (; s < window.columns; ++s, x += step) a = Rule::join(Rule::load(x), a);
    }
    Rule::finish(Rule::join(Rule::join(a, b), Rule::join(c, d)), window, y + lane);
  }
}

constexpr int kTileWindows = 4;

/// Computes kTileWindows adjacent windows of kTaps columns, all inside: joins the elements of each column, then the
/// columns of each window.
template <class Rule, int kTaps, int kStride>
void tile_of_windows(const Window& window, float* y) {
  constexpr int kColumns = (kTileWindows - 1) * kStride + kTaps;
  for (int64_t lane = 0; lane < kChannelLanes; lane += static_cast<int64_t>(hn::Lanes(typename Rule::D()))) {
    typename Rule::V column[kColumns];
    const float* x = window.x + lane;
#pragma GCC unroll 16
    for (int j = 0; j < kColumns; ++j) column[j] = Rule::load(x + j * kChannelLanes);
    for (int64_t r = 1; r < window.rows; ++r) {
      x += window.row_step;
#pragma GCC unroll 16
      for (int j = 0; j < kColumns; ++j) column[j] = Rule::join(Rule::load(x + j * kChannelLanes), column[j]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kTileWindows; ++i) {
      typename Rule::V result = column[i * kStride];
#pragma GCC unroll 16
      for (int s = 1; s < kTaps; ++s) result = Rule::join(column[i * kStride + s], result);
      Rule::finish(result, window, y + i * kChannelLanes + lane);
    }
  }
}

using Compute = void (*)(const Window&, float* y);

/// Returns the function that computes kTileWindows adjacent windows at once, or nullptr.
template <class Rule>
Compute tile_for(const BlockPool& pool) {
  if (pool.column_dilation != 1) return nullptr;
  if (pool.taps == 2 && pool.stride == 2) return tile_of_windows<Rule, 2, 2>;
  if (pool.taps == 3 && pool.stride == 1) return tile_of_windows<Rule, 3, 1>;
  if (pool.taps == 3 && pool.stride == 2) return tile_of_windows<Rule, 3, 2>;
  return nullptr;
}

template <class Rule>
void pool_with(const BlockPool& pool, const float* x, int64_t first, int64_t count, float* y) {
  const int64_t row_floats = pool.width * kChannelLanes;
  const Compute tile = tile_for<Rule>(pool);
  Window window{.row_step = pool.row_dilation * row_floats, .column_step = pool.column_dilation * kChannelLanes};
  for (int64_t p = first; p < first + count; ++p) {
    const PoolSpan& rows = pool.rows[static_cast<size_t>(p)];
    window.rows = rows.taps;
    for (size_t q = 0; q < pool.columns.size();) {
      const PoolSpan& columns = pool.columns[q];
      window.x = x + rows.first * row_floats + columns.first * kChannelLanes;
      window.columns = columns.taps;
      window.counted = rows.counted * columns.counted;
      const bool fits = tile != nullptr && rows.taps > 0 && q + kTileWindows <= pool.columns.size() &&
                        columns.taps == pool.taps && pool.columns[q + kTileWindows - 1].taps == pool.taps;
      (fits ? tile : one_window<Rule>)(window, y);
      q += fits ? kTileWindows : 1;
      y += (fits ? kTileWindows : 1) * kChannelLanes;
    }
  }
}

void pool_any_block(const BlockPool& pool, const float* x, int64_t first, int64_t count, float* y) {
  if (pool.kind == PoolKind::max) return pool_with<Largest>(pool, x, first, count, y);
  pool_with<Average>(pool, x, first, count, y);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(pool_any_block);

std::vector<PoolSpan> spans_of(const PoolAxis& axis, bool padding_counts) {
  std::vector<PoolSpan> spans;
  for (int64_t output = 0; output < axis.outputs; ++output) {
    const Taps inside = axis.taps_inside(output);
    spans.push_back({.first = axis.place(output, inside.first),
                     .taps = inside.last - inside.first,
                     .counted = axis.counted(output, padding_counts)});
  }
  return spans;
}

}  // namespace

BlockPool block_pool(const Pool& pool, int64_t height, int64_t width) {
  const PoolAxis h{height,          pool.output_h(height), pool.kernel_h,  pool.stride_h,
                   pool.dilation_h, pool.pad_top,          pool.pad_bottom};
  const PoolAxis w{width,           pool.output_w(width), pool.kernel_w, pool.stride_w,
                   pool.dilation_w, pool.pad_left,        pool.pad_right};
  return {.kind = pool.kind,
          .rows = spans_of(h, pool.count_include_pad),
          .columns = spans_of(w, pool.count_include_pad),
          .width = width,
          .taps = pool.kernel_w,
          .stride = pool.stride_w,
          .row_dilation = pool.dilation_h,
          .column_dilation = pool.dilation_w};
}

BlockPool block_mean(int64_t pixels) {
  return {.kind = PoolKind::average, .rows = {{0, 1, 1}}, .columns = {{0, pixels, pixels}}, .width = pixels};
}

void pool_block(const BlockPool& pool, const float* x, int64_t first, int64_t count, float* y) {
  HWY_DYNAMIC_DISPATCH(pool_any_block)(pool, x, first, count, y);
}

}  // namespace convlab
#endif  // HWY_ONCE
