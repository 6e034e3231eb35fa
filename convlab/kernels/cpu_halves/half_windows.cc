#include "convlab/kernels/cpu_halves/half_windows.h"

#include <algorithm>
#include <vector>

#include "convlab/base/bf16.h"
#include "convlab/kernels/cpu/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu_halves/half_windows.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu_halves/half_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Maxima are those of whole numbers, whose order is that of the halves: what a sign bit turns round is turned round, and
/// NaN of either sign is the largest.
struct LargestHalf {
  using Joined = int16_t;
  static constexpr int kVectors = 2;  // at once, so that lines of the cache are read whole

  template <class D>
  static HWY_INLINE hn::Vec<D> none(D d) {
    return turned(d, hn::Set(d, static_cast<int16_t>(0xff80)));  // -infinity
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const uint16_t* from) {
    const auto half = hn::LoadU(d, reinterpret_cast<const int16_t*>(from));
    const auto largest = hn::Set(d, int16_t{0x7fff}), infinity = hn::Set(d, int16_t{0x7f80});
    return hn::IfThenElse(hn::Gt(hn::And(half, largest), infinity), largest, turned(d, half));
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Max(a, b);
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> joined, float, uint16_t* to) {
    hn::StoreU(turned(d, joined), d, reinterpret_cast<int16_t*>(to));
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> joined, float, float* to) {
    uint16_t halves[hn::MaxLanes(D())];
    store(d, joined, 1, halves);
    for (const uint16_t half : halves) *to++ = from_bf16(half);
  }

 private:
  template <class D>
  static HWY_INLINE hn::Vec<D> turned(D d, hn::Vec<D> half) {
    return hn::Xor(half, hn::And(hn::ShiftRight<15>(half), hn::Set(d, int16_t{0x7fff})));
  }
};

struct SumOfHalves {
  using Joined = float;
  static constexpr int kVectors = 4;

  template <class D>
  static HWY_INLINE hn::Vec<D> none(D d) {
    return hn::Zero(d);
  }
  template <class D>
  static HWY_INLINE hn::Vec<D> load(D d, const uint16_t* from) {
    return load_halves(d, from);
  }
  template <class V>
  static HWY_INLINE V join(V a, V b) {
    return hn::Add(a, b);
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> joined, float share, uint16_t* to) {
    store_halves(d, hn::Mul(joined, hn::Set(d, share)), to);
  }
  template <class D>
  static HWY_INLINE void store(D d, hn::Vec<D> joined, float share, float* to) {
    hn::StoreU(hn::Mul(joined, hn::Set(d, share)), d, to);
  }
};

/// Some vectors of channels of a row of outputs, whose windows begin at x. Where windows overlap, what the rows of a column
/// are joined to is kept in `columns`.
template <class Rule, int kVectors, class D, class Y>
HWY_INLINE void one_row(D d, const HalfWindows& windows, const PoolSpan& rows, const uint16_t* x,
                        typename Rule::Joined* columns, Y* y) {
  using Vectors = hn::Vec<D>[kVectors];
  const BlockPool& pool = windows.pool;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t row_step = pool.row_dilation * pool.width * windows.x_step;
  const auto join_column = [&](int64_t column, Vectors& joined) HWY_ATTR {
    const uint16_t* from = x + column * windows.x_step;
    for (int64_t r = 0; r < rows.taps; ++r, from += row_step) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) joined[v] = Rule::join(joined[v], Rule::load(d, from + v * lanes));
    }
  };
  const bool overlap = pool.stride < pool.taps;
  for (int64_t column = 0; overlap && column < pool.width; ++column) {
    Vectors joined;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) joined[v] = Rule::none(d);
    join_column(column, joined);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) hn::StoreU(joined[v], d, columns + (column * kVectors + v) * lanes);
  }
  for (const PoolSpan& window : pool.columns) {
    Vectors joined;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) joined[v] = Rule::none(d);
    for (int64_t s = 0; s < window.taps; ++s) {
      const int64_t column = window.first + s * pool.column_dilation;
      if (!overlap) {
        join_column(column, joined);
        continue;
      }
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) {
        joined[v] = Rule::join(joined[v], hn::LoadU(d, columns + (column * kVectors + v) * lanes));
      }
    }
    const float share = 1 / static_cast<float>(std::max<int64_t>(1, rows.counted * window.counted));
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) Rule::store(d, joined[v], share, y + v * lanes);
    y += windows.y_step;
  }
}

template <class Rule, class Y>
void windows_with(const HalfWindows& windows, Y* y) {
  using Joined = typename Rule::Joined;
  const hn::CappedTag<Joined, 64 / sizeof(Joined)> d;
  const BlockPool& pool = windows.pool;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), most = Rule::kVectors * lanes;
  const bool overlap = pool.stride < pool.taps;
  std::vector<Joined> columns(static_cast<size_t>(overlap ? pool.width * most : 0));
  for (int64_t p = windows.first; p < windows.first + windows.count; ++p) {
    const PoolSpan& rows = pool.rows[static_cast<size_t>(p)];
    const uint16_t* const x = windows.x + (rows.first - windows.x_row) * pool.width * windows.x_step;
    int64_t c = 0;
    for (; c + most <= windows.channels; c += most)
      one_row<Rule, Rule::kVectors>(d, windows, rows, x + c, columns.data(), y + c);
    for (; c + lanes <= windows.channels; c += lanes) one_row<Rule, 1>(d, windows, rows, x + c, columns.data(), y + c);
    const hn::CappedTag<Joined, 8> part;
    for (; c < windows.channels; c += static_cast<int64_t>(hn::Lanes(part))) {
      one_row<Rule, 1>(part, windows, rows, x + c, columns.data(), y + c);
    }
    y += static_cast<int64_t>(pool.columns.size()) * windows.y_step;
  }
}

template <class Rule>
void windows_by(const HalfWindows& windows) {
  windows.plain != nullptr ? windows_with<Rule>(windows, windows.plain) : windows_with<Rule>(windows, windows.y);
}

void any_windows(const HalfWindows& windows) {
  if (windows.pool.kind == PoolKind::max) return windows_by<LargestHalf>(windows);
  windows_by<SumOfHalves>(windows);
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
