// Max and average pooling of bf16 nhwc images.

#include "convlab/kernels/cpu/nhwc_bf16/half_windows.h"

#include <algorithm>
#include <vector>

#include "convlab/base/bf16.h"
#include "convlab/kernels/cpu/simd/simd.h"
#include "convlab/tensor/format.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_bf16/half_windows.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nhwc_bf16/half_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Computes maxima as int16: with the lower bits of negative numbers inverted, integers are ordered as the bf16
/// numbers, and NaN of either sign becomes the largest integer.
struct LargestHalf {
  using Joined = int16_t;
  static constexpr int kVectors = 2;  // at once, so that whole cache lines are read

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

/// Whether windows share columns: then the reduction of each column over the rows is kept for all windows.
HWY_INLINE bool share_columns(const BlockPool& pool) { return pool.stride < pool.taps; }

/// Computes kVectors vectors of channels of an output row.
template <class Rule, int kVectors, class D>
class RowOfWindows {
 public:
  using Joined = typename Rule::Joined;

  /// x: first pixel, at these channels, of the windows' first input row.
  RowOfWindows(const HalfWindows& windows, const PoolSpan& rows, const uint16_t* x)
      : windows_(windows), pool_(windows.pool), rows_(rows), x_(x) {}

  /// If windows share columns, `columns` has room for the vectors of the pool's whole width.
  template <class Y>
  HWY_INLINE void compute(Joined* columns, Y* y) const {
    const bool share = share_columns(pool_);
    for (int64_t column = 0; share && column < pool_.width; ++column) {
      Vectors joined;
      clear(joined);
      join_rows(column, joined);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) hn::StoreU(joined[v], D(), columns + (column * kVectors + v) * kLanes);
    }
    for (const PoolSpan& window : pool_.columns) {
      Vectors joined;
      clear(joined);
      for (int64_t s = 0; s < window.taps; ++s) {
        const int64_t column = window.first + s * pool_.column_dilation;
        share ? join_kept(columns + column * kVectors * kLanes, joined) : join_rows(column, joined);
      }
      const float counted = static_cast<float>(std::max<int64_t>(1, rows_.counted * window.counted));
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) Rule::store(D(), joined[v], 1 / counted, y + v * kLanes);
      y += windows_.y_step;
    }
  }

 private:
  using Vectors = hn::Vec<D>[kVectors];
  static constexpr int64_t kLanes = hn::MaxLanes(D());

  static HWY_INLINE void clear(Vectors& joined) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) joined[v] = Rule::none(D());
  }
  static HWY_INLINE void join_kept(const Joined* kept, Vectors& joined) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) joined[v] = Rule::join(joined[v], hn::LoadU(D(), kept + v * kLanes));
  }
  HWY_INLINE void join_rows(int64_t column, Vectors& joined) const {
    const int64_t row_step = pool_.row_dilation * pool_.width * windows_.x_step;
    const uint16_t* from = x_ + column * windows_.x_step;
    for (int64_t r = 0; r < rows_.taps; ++r, from += row_step) {
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) joined[v] = Rule::join(joined[v], Rule::load(D(), from + v * kLanes));
    }
  }

  const HalfWindows& windows_;
  const BlockPool& pool_;
  const PoolSpan& rows_;
  const uint16_t* x_;
};

template <class Rule, class Y>
void windows_with(const HalfWindows& windows, Y* y) {
  using Joined = typename Rule::Joined;
  using Whole = hn::CappedTag<Joined, 64 / sizeof(Joined)>;
  using Part = hn::CappedTag<Joined, kChannelLanes>;
  constexpr int64_t kLanes = hn::MaxLanes(Whole()), kMost = Rule::kVectors * kLanes, kFew = hn::MaxLanes(Part());
  const BlockPool& pool = windows.pool;
  std::vector<Joined> columns(static_cast<size_t>(share_columns(pool) ? pool.width * kMost : 0));
  for (int64_t p = windows.first; p < windows.first + windows.count; ++p) {
    const PoolSpan& rows = pool.rows[static_cast<size_t>(p)];
    const uint16_t* const x = windows.x + (rows.first - windows.x_row) * pool.width * windows.x_step;
    int64_t c = 0;
    for (; c + kMost <= windows.channels; c += kMost) {
      RowOfWindows<Rule, Rule::kVectors, Whole>(windows, rows, x + c).compute(columns.data(), y + c);
    }
    for (; c + kLanes <= windows.channels; c += kLanes) {
      RowOfWindows<Rule, 1, Whole>(windows, rows, x + c).compute(columns.data(), y + c);
    }
    for (; c < windows.channels; c += kFew) {
      RowOfWindows<Rule, 1, Part>(windows, rows, x + c).compute(columns.data(), y + c);
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
