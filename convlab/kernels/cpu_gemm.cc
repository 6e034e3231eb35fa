#include "convlab/kernels/cpu_gemm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <vector>

#include "convlab/base/bf16.h"
#include "convlab/base/checked.h"
#include "convlab/base/half.h"
#include "convlab/kernels/cpu_simd.h"
#include "convlab/kernels/cpu_table.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu_gemm.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

using F = hn::CappedTag<float, 16>;

// A register tile is kTileRows rows by kTileVectors vectors of C. Accumulators, one row of B and a broadcast element
// of A must fit the registers: 24 + 2 + 1 of 32, or 12 + 2 + 1 of 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr int kTileRows = 12;
#else
constexpr int kTileRows = 6;
#endif
constexpr int kTileVectors = 2;

// Where A has one row, sums of so many panels are under way at a time, if there are as many, that none waits for the
// one before it.
constexpr int kPanelVectors = kGemmPanel / static_cast<int>(hn::MaxLanes(F()));
constexpr int kRowPanels = std::max(1, 12 / kPanelVectors);

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_SSE4
constexpr bool kConvertsHalves = false;
#else
constexpr bool kConvertsHalves = true;
#endif

// Two neighbouring vectors of a row of B.
HWY_INLINE void load(const float* from, hn::Vec<F>& first, hn::Vec<F>& second) {
  first = hn::Load(F(), from);
  second = hn::Load(F(), from + hn::Lanes(F()));
}
HWY_INLINE void load(const hwy::float16_t* from, hn::Vec<F>& first, hn::Vec<F>& second) {
  const hn::Rebind<hwy::float16_t, F> d;
  first = hn::PromoteTo(F(), hn::Load(d, from));
  second = hn::PromoteTo(F(), hn::Load(d, from + hn::Lanes(F())));
}
/// Of bfloat16, the two by turns: an instruction each, where widening neighbours would take two.
HWY_INLINE void load(const uint16_t* from, hn::Vec<F>& first, hn::Vec<F>& second) {
  const hn::RebindToUnsigned<F> d;
  const auto both = hn::Load(d, reinterpret_cast<const uint32_t*>(from));
  first = hn::BitCast(F(), hn::ShiftLeft<16>(both));
  second = hn::BitCast(F(), hn::And(both, hn::Set(d, 0xffff0000u)));
}

/// One register tile: kRows x (kVectors * lanes) of C = or += A * B, B's rows being kGemmPanel elements apart. Where it
/// is wider than a panel, panels are panel_step elements apart.
template <int kRows, int kVectors, class B>
void tile(int64_t depth, const float* HWY_RESTRICT a, int64_t lda, const B* HWY_RESTRICT b, int64_t panel_step,
          float* HWY_RESTRICT c, int64_t ldc, bool add) {
  static_assert(kVectors % 2 == 0);
  const F d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<F> sum[kRows][kVectors];
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::Zero(d);
  }
  for (int64_t k = 0; k < depth; ++k) {
    hn::Vec<F> row[kVectors];
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; v += 2) {
      load(b + v * lanes / kGemmPanel * panel_step + v * lanes % kGemmPanel, row[v], row[v + 1]);
    }
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const hn::Vec<F> ai = hn::Set(d, a[i * lda + k]);
#pragma GCC unroll 12
      for (int v = 0; v < kVectors; ++v) sum[i][v] = hn::MulAdd(ai, row[v], sum[i][v]);
    }
    b += kGemmPanel;
  }
#pragma GCC unroll 12
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 12
    for (int v = 0; v < kVectors; ++v) {
      float* to = c + i * ldc + v * lanes;
      hn::StoreU(add ? hn::Add(hn::LoadU(d, to), sum[i][v]) : sum[i][v], d, to);
    }
  }
}

/// kTiles<B>[i]: the tile of i + 1 rows. kRowTiles<B>[i]: the tile of one row, i + 1 panels wide.
template <class B>
constexpr auto kTiles = table_of<kTileRows>([](auto rows) { return &tile<rows, kTileVectors, B>; });
template <class B>
constexpr auto kRowTiles = table_of<kRowPanels>([](auto panels) { return &tile<1, panels * kPanelVectors, B>; });

/// See gemm_block in the header. `ahead`: elements of A's rows that the caller will ask for next, right of these. They
/// are fetched into the second cache little by little, or the first panel of the next block would wait for them all.
template <class B>
void multiply_panels(int64_t rows, int64_t columns, int64_t depth, const float* a, int64_t lda, const B* panels,
                     float* c, int64_t ldc, bool add, int64_t ahead) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  const int64_t tile_columns = kTileVectors * lanes;
  const int64_t tiles = ceil_div(rows, kTileRows), panel_step = kGemmPanel * depth;
  HWY_ALIGN float part[kTileRows * kTileVectors * 16];
  const auto panel_at = [&](int64_t column) { return panels + column / kGemmPanel * panel_step + column % kGemmPanel; };
  int64_t column = 0;
  if (rows == 1) {
    for (int64_t left = columns / kGemmPanel; left > 0;) {
      const int64_t count = ceil_div(left, ceil_div(left, kRowPanels));  // tiles of nearly equal width
      kRowTiles<B>[static_cast<size_t>(count - 1)](depth, a, lda, panel_at(column), panel_step, c + column, ldc, add);
      column += count * kGemmPanel;
      left -= count;
    }
  }
  for (; column < columns; column += tile_columns) {
    const B* b = panel_at(column);
    const int64_t wanted = std::min(tile_columns, columns - column);
    const int64_t fetch = ahead * column / columns, fetch_end = ahead * (column + wanted) / columns;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t row = rows * t / tiles, count = rows * (t + 1) / tiles - row;  // tiles of nearly equal height
      const auto compute = kTiles<B>[static_cast<size_t>(count - 1)];
      for (int64_t i = row; i < row + count; ++i) {
        for (int64_t k = fetch; k < fetch_end; k += 16) __builtin_prefetch(a + i * lda + depth + k, 0, 2);
      }
      float* to = c + row * ldc + column;
      if (wanted == tile_columns) {
        compute(depth, a + row * lda, lda, b, panel_step, to, ldc, add);
        continue;
      }
      // The panel is filled up with columns that C does not have.
      compute(depth, a + row * lda, lda, b, panel_step, part, tile_columns, false);
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t j = 0; j < wanted; ++j) {
          const float value = part[i * tile_columns + j];
          to[i * ldc + j] = add ? to[i * ldc + j] + value : value;
        }
      }
    }
  }
}

void multiply_block(int64_t rows, int64_t columns, int64_t depth, const float* a, int64_t lda, PackedB panels, float* c,
                    int64_t ldc, bool add, int64_t ahead) {
  const auto multiply = [&](auto* numbers) {
    multiply_panels(rows, columns, depth, a, lda, numbers, c, ldc, add, ahead);
  };
  if constexpr (kConvertsHalves) {
    if (panels.as == PackedAs::f16) return multiply(static_cast<const hwy::float16_t*>(panels.data));
  }
  if (panels.as == PackedAs::bf16) return multiply(static_cast<const uint16_t*>(panels.data));
  multiply(static_cast<const float*>(panels.data));
}

bool target_converts_halves() { return kConvertsHalves; }

/// Where column j of two vectors stands that are kept by turns.
int64_t place_by_turns(int64_t j) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  return j / (2 * lanes) * 2 * lanes + j % lanes * 2 + j / lanes % 2;
}

void finish_row(const GemmFinish& finish, const float* addend, float* c, int64_t columns) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, finish.scale);
  HWY_ALIGN float values[16] = {}, addends[16] = {};
  for (int64_t j = 0; j < columns; j += lanes) {
    const int64_t count = std::min(lanes, columns - j);
    // Rows are short and this is a small part of the work, so every vector takes the way of the last one.
    std::copy(c + j, c + j + count, values);
    auto value = hn::Load(d, values);
    if (addend != nullptr) {
      for (int64_t i = 0; i < count; ++i) addends[i] = addend[(j + i) * finish.column_stride];
      value = hn::MulAdd(scale, hn::Load(d, addends), value);
    }
    hn::Store(activated(d, finish.activation, value), d, values);
    std::copy(values, values + count, c + j);
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(multiply_block);
HWY_EXPORT(finish_row);
HWY_EXPORT(target_converts_halves);
HWY_EXPORT(place_by_turns);

// Rows of A that one thread takes through all of B: 240 rows of a block are 240 KiB, which leaves room in an L2 cache.
// With 36 rows B's way from the third cache was seen to cost 8 %, with 72 rows 2 %.
constexpr int64_t kItemRowsLeast = 72, kItemRowsMost = 240;
// Up to this many rows the weights' way through memory is what costs, and they are split by depth over the threads.
constexpr int64_t kFewRows = 16;
constexpr int64_t kLeastPart = int64_t{16} << 10;  // elements of B that a thread is woken for

void finish_rows_of_c(const Gemm& gemm, int64_t begin, int64_t end, int64_t first_column, int64_t columns) {
  if (gemm.finish.addend == nullptr && gemm.finish.activation.kind == ActivationKind::none) return;
  const auto finish_one = HWY_DYNAMIC_DISPATCH(finish_row);
  for (int64_t i = begin; i < end; ++i) {
    const float* addend = gemm.finish.addend;
    if (addend != nullptr) addend += i * gemm.finish.row_stride + first_column * gemm.finish.column_stride;
    finish_one(gemm.finish, addend, gemm.c + i * gemm.n + first_column, columns);
  }
}

/// Few rows: each block of B is multiplied by itself, then the products are added in order. A thread has its own blocks,
/// always the same, so that they may stay in its cache; when these are done, it helps others with theirs.
void gemm_by_depth(const Gemm& gemm, float* products, ThreadPool& threads) {
  const int64_t blocks = ceil_div(gemm.k, kGemmDepth), panels = round_up(gemm.n, kGemmPanel);
  const int64_t parts = std::clamp<int64_t>(blocks * panels * kGemmDepth / kLeastPart, 1, threads.size());
  std::vector<std::atomic<int64_t>> taken(static_cast<size_t>(parts));
  threads.parallel_for(parts, 1, [&](int64_t, int64_t, int thread) {
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t part = (thread + i) % parts, begin = blocks * part / parts, end = blocks * (part + 1) / parts;
      std::atomic<int64_t>& next = taken[static_cast<size_t>(part)];
      for (int64_t at = next++; at < end - begin; at = next++) {
        const int64_t block = gemm.backwards ? end - 1 - at : begin + at, first = block * kGemmDepth;
        gemm_block(gemm.m, gemm.n, std::min(kGemmDepth, gemm.k - first), gemm.a + first, gemm.k,
                   gemm.b.from(first * panels), products + block * gemm.m * gemm.n, gemm.n, false);
      }
    }
  });
  std::copy(products, products + gemm.m * gemm.n, gemm.c);
  for (int64_t block = 1; block < blocks; ++block) {
    const float* product = products + block * gemm.m * gemm.n;
    for (int64_t i = 0; i < gemm.m * gemm.n; ++i) gemm.c[i] += product[i];
  }
  finish_rows_of_c(gemm, 0, gemm.m, 0, gemm.n);
}

/// Packs B, each of its elements as number(element), column j of a panel at place[j].
template <class T, class Number>
void pack(const float* b, int64_t k, int64_t n, bool transposed, T* packed, ThreadPool& threads, Number number,
          const std::array<int64_t, kGemmPanel>& place) {
  const int64_t panels = ceil_div(n, kGemmPanel), blocks = ceil_div(k, kGemmDepth);
  threads.parallel_for(blocks * panels, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item / panels * kGemmDepth, depth = std::min(kGemmDepth, k - first);
      const int64_t column = item % panels * kGemmPanel, columns = std::min(kGemmPanel, n - column);
      T* to = packed + first * panels * kGemmPanel + column * depth;
      for (int64_t row = first; row < first + depth; ++row, to += kGemmPanel) {
        std::fill_n(to, kGemmPanel, T{});
        for (int64_t j = 0; j < columns; ++j) {
          to[place[static_cast<size_t>(j)]] = number(b[transposed ? (column + j) * k + row : row * n + column + j]);
        }
      }
    }
  });
}

std::array<int64_t, kGemmPanel> places_in_order() {
  std::array<int64_t, kGemmPanel> place;
  std::iota(place.begin(), place.end(), 0);
  return place;
}

}  // namespace

int64_t packed_b_count(int64_t k, int64_t n) { return checked_mul(k, round_up(n, kGemmPanel)); }

PackedB pack_b(const float* b, int64_t k, int64_t n, bool transposed, float scale, float* packed, ThreadPool& threads) {
  const auto scaled = [scale](float value) { return scale * value; };
  pack(b, k, n, transposed, packed, threads, scaled, places_in_order());
  return {packed, PackedAs::f32};
}

PackedB pack_b_small(const float* b, int64_t k, int64_t n, bool transposed, float scale, float* packed,
                     ThreadPool& threads) {
  if (HWY_DYNAMIC_DISPATCH(target_converts_halves)()) {
    std::atomic<bool> exact = true;
    const auto half_of = [&](float value) {
      const uint16_t half = float_to_half(scale * value);
      if (half_to_float(half) != scale * value) exact.store(false, std::memory_order_relaxed);
      return half;
    };
    pack(b, k, n, transposed, reinterpret_cast<uint16_t*>(packed), threads, half_of, places_in_order());
    if (exact) return {packed, PackedAs::f16};
  }
  return pack_b(b, k, n, transposed, scale, packed, threads);
}

PackedB pack_b_bf16(const float* b, int64_t k, int64_t n, bool transposed, float scale, uint16_t* packed,
                    ThreadPool& threads) {
  const auto rounded = [scale](float value) { return to_bf16(scale * value); };
  std::array<int64_t, kGemmPanel> place = places_in_order();
  std::ranges::transform(place, place.begin(), HWY_DYNAMIC_DISPATCH(place_by_turns));
  pack(b, k, n, transposed, packed, threads, rounded, place);
  return {packed, PackedAs::bf16};
}

void gemm_block(int64_t rows, int64_t columns, int64_t depth, const float* a, int64_t lda, PackedB panels, float* c,
                int64_t ldc, bool add) {
  HWY_DYNAMIC_DISPATCH(multiply_block)(rows, columns, depth, a, lda, panels, c, ldc, add, 0);
}

int64_t gemm_workspace_count(int64_t m, int64_t n, int64_t k) {
  return m <= kFewRows && k > kGemmDepth ? checked_product({ceil_div(k, kGemmDepth), m, n}) : 0;
}

void gemm(const Gemm& gemm, float* workspace, ThreadPool& threads) {
  if (gemm_workspace_count(gemm.m, gemm.n, gemm.k) > 0) return gemm_by_depth(gemm, workspace, threads);
  // Pieces of rows, and where there are too few of them for the threads, of columns. A thread takes its rows through
  // all of B, which comes from afar, so pieces are not small unless threads would go without.
  const int64_t wanted = 4 * threads.size(), panels = ceil_div(gemm.n, kGemmPanel);
  const auto rows_each = [&](int64_t pieces) { return round_up(ceil_div(gemm.m, pieces), 12); };
  const int64_t rows =
      std::clamp(rows_each(wanted), std::min(kItemRowsLeast, rows_each(threads.size())), kItemRowsMost);
  const int64_t row_items = ceil_div(gemm.m, rows);
  const int64_t column_items = row_items < threads.size() ? std::min(panels, ceil_div(wanted, row_items)) : 1;
  const int64_t columns = ceil_div(panels, column_items) * kGemmPanel;
  const int64_t items_across = ceil_div(gemm.n, columns);
  const auto multiply = HWY_DYNAMIC_DISPATCH(multiply_block);
  threads.parallel_for(row_items * items_across, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item / items_across * rows, count = std::min(rows, gemm.m - row);
      const int64_t column = item % items_across * columns, width = std::min(columns, gemm.n - column);
      for (int64_t first = 0; first < gemm.k; first += kGemmDepth) {
        const int64_t depth = std::min(kGemmDepth, gemm.k - first);
        multiply(count, width, depth, gemm.a + row * gemm.k + first, gemm.k,
                 gemm.b.from(first * panels * kGemmPanel + column * depth), gemm.c + row * gemm.n + column, gemm.n,
                 first > 0, std::min(kGemmDepth, gemm.k - first - depth));
      }
      finish_rows_of_c(gemm, row, row + count, column, width);
    }
  });
}

}  // namespace convlab
#endif  // HWY_ONCE
