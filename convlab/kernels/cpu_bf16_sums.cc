#include "convlab/kernels/cpu_bf16_sums.h"

#include <algorithm>
#include <limits>

#include "convlab/kernels/cpu_simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu_bf16_sums.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu_bf16_tiles-inl.h"
#include "convlab/kernels/cpu_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, 16>;
using Bits = hn::RebindToUnsigned<F>;
using V = hn::Vec<F>;

constexpr int64_t kRowFloats = 16;
constexpr int64_t kMostPlaces = 4;  // of a step
constexpr int64_t kStepFloats = kMostPlaces * 2 * kTileBytes / 4;
constexpr int64_t kDenseTiles = 16;  // tiles of terms at a time: those of two blocks of images stay in the first cache

// ------------------------------ Products

/// What is multiplied: kM tiles A at a time, as they lie, with kN tiles B.
struct Operands {
  const std::byte* w;
  const int64_t* offsets;
  int64_t term_tiles;
  int64_t low_at;
  const std::byte* ahead = nullptr;  ///< fetched into the second cache meanwhile, `ahead_lines` for each tile of terms
  int64_t ahead_lines = 0;
};

template <class Tiles, int kM, int kN>
HWY_INLINE void load_weights(Tiles& tiles, const std::byte* w) {
  tiles.template load<4>(w);
  if constexpr (kM > 1) tiles.template load<5>(w + kTileBytes);
}

template <class Tiles, int kM, int kN>
HWY_INLINE void load_pixels(Tiles& tiles, const std::byte* const (&x)[kN], int64_t at) {
  tiles.template load<6>(x[0] + at);
  if constexpr (kN > 1) tiles.template load<7>(x[1] + at);
}

template <class Tiles, int kM, int kN>
HWY_INLINE void multiply(Tiles& tiles) {
  tiles.template multiply<0, 4, 6>();
  if constexpr (kM > 1) tiles.template multiply<1, 5, 6>();
  if constexpr (kN > 1) tiles.template multiply<2, 4, 7>();
  if constexpr (kM > 1 && kN > 1) tiles.template multiply<3, 5, 7>();
}

/// Calls each<tile>(address of its sums in c) for the tiles C in use.
template <int kM, int kN, class Each>
HWY_INLINE void for_sums(float* c, int64_t n_step, int64_t m_step, Each each) {
  each(std::integral_constant<int, 0>(), c);
  if constexpr (kM > 1) each(std::integral_constant<int, 1>(), c + m_step);
  if constexpr (kN > 1) each(std::integral_constant<int, 2>(), c + n_step);
  if constexpr (kM > 1 && kN > 1) each(std::integral_constant<int, 3>(), c + n_step + m_step);
}

/// c = (or, with kAdd, +=) all products: of tile A m and tile B n at c + n * n_step + m * m_step. kHeld: the only tiles A
/// are loaded already.
template <class Tiles, int kProducts, int kM, int kN, bool kAdd, bool kHeld = false>
HWY_INLINE void sum_products(Tiles& tiles, const Operands& job, const std::byte* const (&x)[kN], float* c,
                             int64_t n_step, int64_t m_step) {
  for_sums<kM, kN>(c, n_step, m_step, [&](auto tile, const float* from) {
    if constexpr (kAdd) {
      tiles.template load<tile>(from);
    } else {
      tiles.template zero<tile>();
    }
  });
  const std::byte *w = job.w, *ahead = job.ahead;
  for (int64_t k = 0; k < job.term_tiles; ++k) {
    for (int64_t i = 0; i < job.ahead_lines; ++i, ahead += kPairBytes) __builtin_prefetch(ahead, 0, 2);
    const int64_t at = job.offsets[k];
    load_pixels<Tiles, kM, kN>(tiles, x, at);
    if constexpr (!kHeld) load_weights<Tiles, kM, kN>(tiles, w);
    w += kM * kTileBytes;
    multiply<Tiles, kM, kN>(tiles);
    if constexpr (kProducts > 1) {  // these were the low parts of the weights
      load_weights<Tiles, kM, kN>(tiles, w);
      w += kM * kTileBytes;
      multiply<Tiles, kM, kN>(tiles);
    }
    if constexpr (kProducts > 2) {
      load_pixels<Tiles, kM, kN>(tiles, x, at + job.low_at);
      multiply<Tiles, kM, kN>(tiles);
    }
  }
  for_sums<kM, kN>(c, n_step, m_step, [&](auto tile, float* to) { tiles.template store<tile>(to); });
}

// ------------------------------ The end of a sum

/// To bfloat16's precision, in place: the nearest, a tie away from 0. No NaN may have bits below those of bfloat16,
/// which is true of all that comes of bfloat16 operands.
HWY_INLINE hn::Vec<Bits> rounded_up(V value) { return hn::Add(hn::BitCast(Bits(), value), hn::Set(Bits(), 0x8000u)); }
HWY_INLINE hn::Vec<Bits> upper_half(hn::Vec<Bits> bits) { return hn::And(bits, hn::Set(Bits(), 0xffff0000u)); }
HWY_INLINE hn::Vec<Bits> paired(hn::Vec<Bits> even, hn::Vec<Bits> odd) {
  return hn::Or(hn::ShiftRight<16>(even), upper_half(odd));
}

/// Stores the values as pairs: their high part and, if kSplit, their low one.
template <bool kSplit>
HWY_INLINE void store_pairs(V even, V odd, std::byte* high, int64_t low_at) {
  const Bits bits;
  const auto even_up = rounded_up(even), odd_up = rounded_up(odd);
  hn::Store(paired(even_up, odd_up), bits, reinterpret_cast<uint32_t*>(high));
  if constexpr (kSplit) {
    const V even_low = hn::Sub(even, hn::BitCast(F(), upper_half(even_up)));
    const V odd_low = hn::Sub(odd, hn::BitCast(F(), upper_half(odd_up)));
    hn::Store(paired(rounded_up(even_low), rounded_up(odd_low)), bits, reinterpret_cast<uint32_t*>(high + low_at));
  }
}

/// tanh for results that are rounded to bfloat16, to whose error it adds a ninth: x times a rational function of
/// degree 2 over 2 in x^2 with the least largest relative error up to 4.1 (4.2e-4; beyond, 9.7e-4), found by iterated
/// weighted least squares. NaN stays NaN.
HWY_INLINE V short_tanh(V x) {
  const F d;
  const V limit = hn::Set(d, 4.1f);
  const V clamped = hn::Max(hn::Neg(limit), hn::Min(limit, x));
  const V square = hn::Mul(clamped, clamped);
  const V above = hn::MulAdd(square, hn::Set(d, 0.08213291f), hn::Set(d, 0.99958763f));
  const V below =
      hn::MulAdd(square, hn::MulAdd(square, hn::Set(d, 0.00644322f), hn::Set(d, 0.41330888f)), hn::Set(d, 1.0f));
#if HWY_TARGET == HWY_AVX3
  static_assert(kSecondOfNan);  // of Min and Max; and the reciprocal is good to 2^-14
  return hn::Mul(hn::Mul(clamped, above), hn::ApproximateReciprocal(below));
#else
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Div(hn::Mul(clamped, above), below));
#endif
}

/// The largest of the sums of one output and map, NaN if any is. kWindow is 1 or 4.
template <int kWindow>
HWY_INLINE V largest(const float* sums, const int64_t (&window)[4]) {
  const F d;
  const V a = hn::Load(d, sums + window[0]);
  if constexpr (kWindow == 1) return a;
  const V b = hn::Load(d, sums + window[1]), c = hn::Load(d, sums + window[2]), e = hn::Load(d, sums + window[3]);
#if HWY_TARGET == HWY_AVX3
  // One comparison tells of two numbers whether either is NaN.
  const __mmask16 numbers =
      _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(a.raw, b.raw, _CMP_ORD_Q), c.raw, e.raw, _CMP_ORD_Q);
  const V most = hn::Max(hn::Max(a, b), hn::Max(c, e));
  return V{_mm512_mask_blend_ps(numbers, _mm512_set1_ps(std::numeric_limits<float>::quiet_NaN()), most.raw)};
#else
  return max_or_nan(max_or_nan(a, b), max_or_nan(c, e));
#endif
}

/// Bias and activation. The two that matter most are known at compile time.
enum class End { any, tanh, short_tanh };

template <End kEnd>
HWY_INLINE V ended(const Activation& activation, float bias, V sum) {
  const F d;
  sum = hn::Add(sum, hn::Set(d, bias));
  if constexpr (kEnd == End::short_tanh) return short_tanh(sum);
  if constexpr (kEnd == End::tanh) return tanh_of(d, sum);
  return activated(d, activation, sum);
}

/// One output's maps [first, last) as pairs; `first` has its sums at `sums`, the others at steps of sums_step. All that
/// is read again in the loop is copied before: for all that the compiler knows, storing pairs might change it.
template <int kWindow, End kEnd, bool kSplit>
void finish_pairs(const PairsEnd& end, int64_t first, int64_t last, std::byte* to, const float* sums, int64_t sums_step,
                  const int64_t (&given_window)[4]) {
  const F d;
  const Activation activation = end.activation;
  const int64_t window[4] = {given_window[0], given_window[1], given_window[2], given_window[3]};
  const int64_t low_at = end.low_at;
  const float* const bias = end.bias;
  int64_t map = first;
  for (; map + 1 < last; map += 2, sums += 2 * sums_step, to += kPairBytes) {
    const V even = ended<kEnd>(activation, bias[map], largest<kWindow>(sums, window));
    const V odd = ended<kEnd>(activation, bias[map + 1], largest<kWindow>(sums + sums_step, window));
    store_pairs<kSplit>(even, odd, to, low_at);
  }
  if (map == last) return;
  store_pairs<kSplit>(ended<kEnd>(activation, bias[map], largest<kWindow>(sums, window)), hn::Zero(d), to, low_at);
}

template <int kWindow, End kEnd>
void finish_floats(const PairsEnd& end, int64_t first, int64_t last, float* to, const float* sums, int64_t sums_step,
                   const int64_t (&window)[4]) {
  const F d;
  for (int64_t map = first; map < last; ++map, sums += sums_step, to += end.map_step) {
    hn::Store(ended<kEnd>(end.activation, end.bias[map], largest<kWindow>(sums, window)), d, to);
  }
}

/// Stores one output's maps [first, last), however it is wanted.
template <int kWindow>
void finish(const PairsEnd& end, int64_t first, int64_t last, int64_t output, const float* sums, int64_t sums_step,
            const int64_t (&window)[4]) {
  const F d;
  const bool is_tanh = end.activation.kind == ActivationKind::tanh;
  for (int64_t part = 0; part < kRowFloats; part += static_cast<int64_t>(hn::Lanes(d))) {
    const float* from = sums + part;
    if (end.pairs == nullptr) {
      const auto kernel = is_tanh ? finish_floats<kWindow, End::tanh> : finish_floats<kWindow, End::any>;
      kernel(end, first, last, end.floats + first * end.map_step + output * end.floats_step + part, from, sums_step,
             window);
    } else {
      const auto kernel =
          end.low_at != 0
              ? (is_tanh ? finish_pairs<kWindow, End::tanh, true> : finish_pairs<kWindow, End::any, true>)
              : (is_tanh ? finish_pairs<kWindow, End::short_tanh, false> : finish_pairs<kWindow, End::any, false>);
      kernel(end, first, last, end.pairs + output * end.pairs_step + first / 2 * kPairBytes + part * 4, from, sums_step,
             window);
    }
  }
}

// ------------------------------ Convolutions

/// Two tiles of rows, or the last one, at all places, a step of some places after the other.
template <class Tiles, int kProducts, int kM>
class RowsOfConvolution {
 public:
  RowsOfConvolution(Tiles& tiles, const PairConvolution& job, int64_t row_tile)
      : tiles_(tiles),
        job_(job),
        operands_{job.w.data + job.w.tile_at(row_tile, 0, 0), job.offsets, job.w.term_tiles, job.low_at},
        tile_floats_(job.w.shape.rows * kRowFloats),
        first_(row_tile * job.w.shape.rows / (job.phases ? 2 : 1)),
        last_(std::min(job.end.maps, first_ + kM * job.w.shape.rows / (job.phases ? 2 : 1))),
        places_(job.pooled && !job.phases ? 4 : 2) {}

  void compute() {
    HWY_ALIGN float sums[2][kStepFloats];
    const int64_t steps = (job_.places + places_ - 1) / places_;
    if (kProducts == 1 && operands_.term_tiles == 1) {
      load_weights<Tiles, kM, 1>(tiles_, operands_.w);
      return compute_steps<kProducts == 1>(steps, sums);
    }
    compute_steps<false>(steps, sums);
  }

 private:
  template <bool kHeld>
  HWY_INLINE void compute_steps(int64_t steps, float (&sums)[2][kStepFloats]) {
    for (int64_t step = 0; step <= steps; ++step) {
      if (step < steps) multiply_step<kHeld>(step, sums[step % 2]);
      if (step > 0) finish_step(step - 1, sums[(step - 1) % 2]);
    }
  }

  template <bool kHeld>
  HWY_INLINE void multiply_step(int64_t step, float* sums) {
    const int64_t end = std::min(job_.places, (step + 1) * places_);
    for (int64_t place = step * places_; place < end; place += 2, sums += 2 * kM * tile_floats_) {
      if (place + 1 < end) {
        const std::byte* const x[2] = {job_.x + job_.x_at[place], job_.x + job_.x_at[place + 1]};
        sum_products<Tiles, kProducts, kM, 2, false, kHeld>(tiles_, operands_, x, sums, kM * tile_floats_,
                                                            tile_floats_);
      } else {
        const std::byte* const x[1] = {job_.x + job_.x_at[place]};
        sum_products<Tiles, kProducts, kM, 1, false, kHeld>(tiles_, operands_, x, sums, kM * tile_floats_,
                                                            tile_floats_);
      }
    }
  }

  void finish_step(int64_t step, const float* sums) {
    const int64_t place_step = kM * tile_floats_, row = kRowFloats;
    const int64_t rows_step = job_.phases ? 2 * row : row;
    if (job_.pooled) {
      const int64_t right = job_.phases ? row : place_step, below = job_.phases ? place_step : 2 * place_step;
      finish<4>(job_.end, first_, last_, step, sums, rows_step, {0, right, below, below + right});
      return;
    }
    const int64_t end = std::min(job_.places, (step + 1) * places_);
    for (int64_t place = step * places_; place < end; ++place, sums += place_step) {
      const int64_t each = job_.phases ? 2 : 1;
      for (int64_t i = 0; i < each && place * each + i < job_.outputs; ++i) {
        finish<1>(job_.end, first_, last_, place * each + i, sums, rows_step, {i * row, 0, 0, 0});
      }
    }
  }

  Tiles& tiles_;
  const PairConvolution& job_;
  Operands operands_;
  int64_t tile_floats_;
  int64_t first_, last_;  ///< maps
  int64_t places_;        ///< of a step
};

template <class Tiles, int kProducts>
void convolve_with(const PairConvolution& job) {
  Tiles tiles(job.w.shape);
  for (int64_t tile = 0; tile < job.w.row_tiles; tile += 2) {
    if (tile + 1 < job.w.row_tiles) {
      RowsOfConvolution<Tiles, kProducts, 2>(tiles, job, tile).compute();
    } else {
      RowsOfConvolution<Tiles, kProducts, 1>(tiles, job, tile).compute();
    }
  }
}

// ------------------------------ Dense layers

template <class Tiles, int kProducts>
class Dense {
 public:
  Dense(Tiles& tiles, const PairDense& job)
      : tiles_(tiles),
        job_(job),
        tile_floats_(job.w.shape.rows * kRowFloats),
        block_floats_(job.w.row_tiles * tile_floats_) {}

  void compute() {
    for (int64_t first = 0; first < job_.w.term_tiles; first += kDenseTiles) {
      const int64_t tiles = std::min(kDenseTiles, job_.w.term_tiles - first);
      for (int64_t block = 0; block < job_.blocks; block += 2) {
        if (block + 1 < job_.blocks) {
          multiply_blocks<2>(block, first, tiles);
        } else {
          multiply_blocks<1>(block, first, tiles);
        }
      }
    }
  }

 private:
  template <int kN>
  void multiply_blocks(int64_t block, int64_t first, int64_t tiles) {
    const std::byte* x[kN];
    for (int i = 0; i < kN; ++i) x[i] = job_.x + (block + i) * job_.block_bytes;
    // The next blocks' images come from afar: while two tiles of rows are computed, one of these is fetched.
    const int64_t parts = kProducts > 2 ? 2 : 1;
    int64_t fetched = block + kN < job_.blocks ? 0 : kN * parts;
    for (int64_t tile = job_.first_row_tile; tile < job_.end_row_tile; tile += 2, ++fetched) {
      Operands operands{job_.w.data + job_.w.tile_at(tile, first, 0), job_.offsets + first, tiles, job_.low_at};
      if (fetched < kN * parts) {
        operands.ahead = job_.x + (block + kN + fetched / parts) * job_.block_bytes + fetched % parts * job_.low_at +
                         job_.offsets[first];
        operands.ahead_lines = kTileBytes / kPairBytes;
      }
      float* sums = job_.sums + block * block_floats_ + tile * tile_floats_;
      if (tile + 1 < job_.end_row_tile) {
        add_products<2, kN>(operands, x, sums, first > 0);
      } else {
        add_products<1, kN>(operands, x, sums, first > 0);
      }
    }
    if (first + tiles < job_.w.term_tiles) return;
    const int64_t rows = job_.w.shape.rows, begin = job_.first_row_tile * rows;
    const int64_t end = std::min(job_.end.maps, job_.end_row_tile * rows);
    for (int64_t i = block; i < block + kN; ++i) {
      finish<1>(job_.end, begin, end, i, job_.sums + i * block_floats_ + begin * kRowFloats, kRowFloats, {0, 0, 0, 0});
    }
  }

  template <int kM, int kN>
  void add_products(const Operands& operands, const std::byte* const (&x)[kN], float* sums, bool add) {
    if (add) {
      sum_products<Tiles, kProducts, kM, kN, true>(tiles_, operands, x, sums, block_floats_, tile_floats_);
    } else {
      sum_products<Tiles, kProducts, kM, kN, false>(tiles_, operands, x, sums, block_floats_, tile_floats_);
    }
  }

  Tiles& tiles_;
  const PairDense& job_;
  int64_t tile_floats_, block_floats_;
};

template <class Tiles, int kProducts>
void multiply_with(const PairDense& job) {
  Tiles tiles(job.w.shape);
  Dense<Tiles, kProducts>(tiles, job).compute();
}

// ------------------------------ By unit and precision

template <class Tiles>
void convolve_as(const PairConvolution& job) {
  switch (job.w.products) {
    case Products::one:
      return convolve_with<Tiles, 1>(job);
    case Products::two:
      return convolve_with<Tiles, 2>(job);
    case Products::three:
      return convolve_with<Tiles, 3>(job);
  }
}

template <class Tiles>
void multiply_as(const PairDense& job) {
  switch (job.w.products) {
    case Products::one:
      return multiply_with<Tiles, 1>(job);
    case Products::two:
      return multiply_with<Tiles, 2>(job);
    case Products::three:
      return multiply_with<Tiles, 3>(job);
  }
}

void convolve_on(Bf16Unit unit, const PairConvolution& job) {
#if HWY_TARGET == HWY_AVX3
  if (unit == Bf16Unit::amx) return convolve_as<TilesOfAmx>(job);
  if (unit == Bf16Unit::avx512_bf16) return convolve_as<TilesOfAvx512Bf16>(job);
#endif
  (void)unit;
  convolve_as<TilesOfVectors>(job);
}

void multiply_on(Bf16Unit unit, const PairDense& job) {
#if HWY_TARGET == HWY_AVX3
  if (unit == Bf16Unit::amx) return multiply_as<TilesOfAmx>(job);
  if (unit == Bf16Unit::avx512_bf16) return multiply_as<TilesOfAvx512Bf16>(job);
#endif
  (void)unit;
  multiply_as<TilesOfVectors>(job);
}

void spread_all_pairs(const std::byte* from, int64_t count, std::byte* to, int64_t step) {
  const Bits bits;
  const int64_t bytes = static_cast<int64_t>(hn::Lanes(bits)) * 4;
  for (int64_t j = 0; j < count; ++j, from += kPairBytes, to += step) {
    for (int64_t part = 0; part < kPairBytes; part += bytes) {
      const auto some = hn::Load(bits, reinterpret_cast<const uint32_t*>(from + part));
      hn::Store(some, bits, reinterpret_cast<uint32_t*>(to + part));
    }
  }
}

void pack_all_pairs(const float* even, const float* odd, int64_t count, int64_t float_step, std::byte* high,
                    std::byte* low, int64_t step) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const V quiet = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const auto load = [&](const float* from) {
    const V value = hn::Load(d, from);
    return hn::IfThenElse(hn::IsNaN(value), quiet, value);
  };
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t part = 0; part < kRowFloats; part += lanes) {
      const V a = load(even + j * float_step + part);
      const V b = odd != nullptr ? load(odd + j * float_step + part) : hn::Zero(d);
      std::byte* to = high + j * step + part * 4;
      if (low != nullptr) {
        store_pairs<true>(a, b, to, low - high);
      } else {
        store_pairs<false>(a, b, to, 0);
      }
    }
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(convolve_on);
HWY_EXPORT(multiply_on);
HWY_EXPORT(spread_all_pairs);
HWY_EXPORT(pack_all_pairs);

}  // namespace

void quiet_bias(const float* bias, int64_t maps, float* to) {
  for (int64_t map = 0; map < maps; ++map) {
    const float value = bias != nullptr ? bias[map] : 0;
    to[map] = value == value ? value : std::numeric_limits<float>::quiet_NaN();
  }
}

void convolve_pairs(Bf16Unit unit, const PairConvolution& job) { HWY_DYNAMIC_DISPATCH(convolve_on)(unit, job); }

void multiply_pairs(Bf16Unit unit, const PairDense& job) { HWY_DYNAMIC_DISPATCH(multiply_on)(unit, job); }

void spread_pairs(const std::byte* from, int64_t count, std::byte* to, int64_t step) {
  HWY_DYNAMIC_DISPATCH(spread_all_pairs)(from, count, to, step);
}

void pack_pairs(const float* even, const float* odd, int64_t count, int64_t float_step, std::byte* high, std::byte* low,
                int64_t step) {
  HWY_DYNAMIC_DISPATCH(pack_all_pairs)(even, odd, count, float_step, high, low, step);
}

}  // namespace convlab
#endif  // HWY_ONCE
