#include "convlab/kernels/cpu_halves/half_windows.h"

#include <limits>

#include "convlab/kernels/cpu/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu_halves/half_windows.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/math-inl.h"
#include "convlab/kernels/cpu_halves/half_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// How elements are joined.
struct LargestHalf {
  template <class D>
  static HWY_INLINE hn::Vec<D> none(D d) {
    return hn::Set(d, -std::numeric_limits<float>::infinity());
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return max_or_nan(a, b);
  }
};
struct SumOfHalves {
  template <class D>
  static HWY_INLINE hn::Vec<D> none(D d) {
    return hn::Zero(d);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Add(a, b);
  }
};

/// Where a window's elements lie, from x on, and how many an average counts.
struct WindowPlace {
  const uint16_t* x;
  int64_t rows, columns, row_step, column_step;
  float counted;
};

/// Some vectors of channels at once, so that none waits for another's sums.
template <class Rule, int kVectors, class D>
HWY_INLINE void one_window(D d, const WindowPlace& place, int64_t channel, uint16_t* y, float* plain) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> joined[kVectors];
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) joined[v] = Rule::none(d);
  const uint16_t* row = place.x + channel;
  for (int64_t r = 0; r < place.rows; ++r, row += place.row_step) {
    const uint16_t* x = row;
    for (int64_t s = 0; s < place.columns; ++s, x += place.column_step) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) joined[v] = Rule::join(load_halves(d, x + v * lanes), joined[v]);
    }
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) {
    if (place.counted != 0) joined[v] = hn::Div(joined[v], hn::Set(d, place.counted));
    const int64_t at = channel + v * lanes;
    if (plain != nullptr) {
      hn::StoreU(joined[v], d, plain + at);
    } else {
      store_halves(d, joined[v], y + at);
    }
  }
}

template <class Rule>
void windows_with(const HalfWindows& windows) {
  const BlockPool& pool = windows.pool;
  const hn::CappedTag<float, 16> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), row_step = pool.width * windows.x_step;
  uint16_t* y = windows.y;
  float* plain = windows.plain;
  for (int64_t p = windows.first; p < windows.first + windows.count; ++p) {
    const PoolSpan& rows = pool.rows[static_cast<size_t>(p)];
    for (const PoolSpan& columns : pool.columns) {
      const float counted = pool.kind == PoolKind::max ? 0 : static_cast<float>(rows.counted * columns.counted);
      const WindowPlace place{windows.x + rows.first * row_step + columns.first * windows.x_step,
                              rows.taps,
                              columns.taps,
                              pool.row_dilation * row_step,
                              pool.column_dilation * windows.x_step,
                              counted};
      int64_t channel = 0;
      for (; channel + 4 * lanes <= windows.channels; channel += 4 * lanes) {
        one_window<Rule, 4>(d, place, channel, y, plain);
      }
      for_channels(windows.channels - channel,
                   [&](auto own, int64_t c) HWY_ATTR { one_window<Rule, 1>(own, place, channel + c, y, plain); });
      if (plain != nullptr) {
        plain += windows.y_step;
      } else {
        y += windows.y_step;
      }
    }
  }
}

void any_windows(const HalfWindows& windows) {
  if (windows.pool.kind == PoolKind::max) return windows_with<LargestHalf>(windows);
  windows_with<SumOfHalves>(windows);
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(any_windows);

}  // namespace

void compute_windows(const HalfWindows& windows) { HWY_DYNAMIC_DISPATCH(any_windows)(windows); }

}  // namespace convlab
#endif  // HWY_ONCE
