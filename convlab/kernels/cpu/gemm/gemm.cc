// Packs B and multiplies matrices on all threads: see gemm.h.

#include "convlab/kernels/cpu/gemm/gemm.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <type_traits>
#include <vector>

#include "convlab/base/bf16.h"
#include "convlab/base/checked.h"
#include "convlab/base/half.h"
#include "convlab/kernels/cpu/simd/bf16_tiles.h"
#include "convlab/kernels/cpu/simd/by_count.h"
#include "convlab/kernels/cpu/simd/matrix_tiles.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/gemm/gemm.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/gemm/gemm_amx-inl.h"
#include "convlab/kernels/cpu/gemm/gemm_tiles-inl.h"
#include "convlab/kernels/cpu/simd/highway-inl.h"
#include "convlab/kernels/cpu/simd/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Maximum rows of a tile: A is in pairs only if it has few rows.
template <class A>
constexpr int kMostRows = std::is_same_v<A, float> ? kTileRows : static_cast<int>(kGemmDotRows);

/// kTiles<A, B>[i]: the tile of i + 1 rows. kRowTiles<A, B>[i]: the tile of one row, i + 1 panels wide.
template <class A, class B>
constexpr auto kTiles = by_count<kMostRows<A>>([](auto rows) { return &tile<rows, kTileVectors, A, B>; });
template <class A, class B>
constexpr auto kRowTiles = by_count<kRowPanels>([](auto panels) { return &tile<1, panels * kPanelVectors, A, B>; });

/// See gemm_block() in the header. A, with its depth and lda, and B are as for tile().
template <class A, class B>
void multiply_panels(const GemmBlock& block, int64_t rows, int64_t depth, const A* a, int64_t lda, const B* panels,
                     float* c) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(F()));
  const int64_t tile_columns = kTileVectors * lanes, columns = block.columns, ldc = block.ldc;
  const int64_t tiles = ceil_div(rows, kMostRows<A>);
  const int64_t panel_step = kGemmPanel * rows_held(block.panels.as, block.depth) / kTerms<B>;
  const int64_t next_block = block.next / static_cast<int64_t>(sizeof(B));
  HWY_ALIGN float part[kTileRows * kTileVectors * 16];
  const auto offset_at = [&](int64_t column) { return column / kGemmPanel * panel_step + column % kGemmPanel; };
  int64_t column = 0;
  if (rows == 1) {
    for (int64_t left = columns / kGemmPanel; left > 0;) {
      const int64_t count = ceil_div(left, ceil_div(left, kRowPanels));  // tiles of nearly equal width
      const int64_t next = left > count ? count * panel_step : next_block - offset_at(column);
      kRowTiles<A, B>[static_cast<size_t>(count - 1)](depth, a, lda, panels + offset_at(column), panel_step, next,
                                                      c + column, ldc, block.add);
      column += count * kGemmPanel;
      left -= count;
    }
  }
  for (; column < columns; column += tile_columns) {
    const B* b = panels + offset_at(column);
    const int64_t wanted = std::min(tile_columns, columns - column);
    const int64_t fetch = block.ahead * column / columns, fetch_end = block.ahead * (column + wanted) / columns;
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t row = rows * t / tiles, count = rows * (t + 1) / tiles - row;  // tiles of nearly equal height
      const auto compute = kTiles<A, B>[static_cast<size_t>(count - 1)];
      if constexpr (std::is_same_v<A, float>) {
        for (int64_t i = row; i < row + count; ++i) {
          for (int64_t k = fetch; k < fetch_end; k += 16) __builtin_prefetch(a + i * lda + depth + k, 0, 2);
        }
      }
      float* to = c + row * ldc + column;
      if (wanted == tile_columns) {
        compute(depth, a + row * lda, lda, b, panel_step, 0, to, ldc, block.add);
        continue;
      }
      // The panel is padded with columns that C does not have.
      compute(depth, a + row * lda, lda, b, panel_step, 0, part, tile_columns, false);
      for (int64_t i = 0; i < count; ++i) {
        for (int64_t j = 0; j < wanted; ++j) {
          const float value = part[i * tile_columns + j];
          to[i * ldc + j] = block.add ? to[i * ldc + j] + value : value;
        }
      }
    }
  }
}

#if HWY_TARGET == HWY_AVX3

/// Rounds A once for all panels.
void multiply_rounded(const GemmBlock& block) {
  constexpr int64_t kPairs = kGemmPairsDepth / 2;
  HWY_ALIGN uint32_t pairs[kGemmDotRows * kPairs];
  for (int64_t i = 0; i < block.rows; ++i) round_to_pairs(block.depth, block.a + i * block.lda, pairs + i * kPairs);
  multiply_panels(block, block.rows, ceil_div(block.depth, 2), pairs, kPairs,
                  static_cast<const uint32_t*>(block.panels.data), block.c);
}

#endif  // HWY_AVX3

void multiply_block(const GemmBlock& block) {
  const auto multiply = [&](auto* numbers) {
    multiply_panels(block, block.rows, block.depth, block.a, block.lda, numbers, block.c);
  };
#if HWY_TARGET == HWY_AVX3
  if (block.panels.as >= PackedAs::bf16_dots) return multiply_rounded(block);
#endif
  if constexpr (kConvertsHalves) {
    if (block.panels.as == PackedAs::f16) return multiply(static_cast<const hwy::float16_t*>(block.panels.data));
  }
  if (is_bf16(block.panels.as)) return multiply(static_cast<const uint32_t*>(block.panels.data));
  multiply(static_cast<const float*>(block.panels.data));
}

bool target_converts_halves() { return kConvertsHalves; }
bool target_may_have_tiles() { return HWY_TARGET == HWY_AVX3; }

/// c[i] = the sum of products[block * count + i], block by block. It is compiled per instruction set, to be vectorized.
void add_products(const float* HWY_RESTRICT products, int64_t blocks, int64_t count, float* HWY_RESTRICT c) {
  std::copy(products, products + count, c);
  for (int64_t block = 1; block < blocks; ++block) {
    products += count;
    for (int64_t i = 0; i < count; ++i) c[i] += products[i];
  }
}

void finish_row(const GemmFinish& finish, const float* addend, float* c, int64_t columns) {
  const F d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto scale = hn::Set(d, finish.scale);
  HWY_ALIGN float values[16] = {}, addends[16] = {};
  for (int64_t j = 0; j < columns; j += lanes) {
    const int64_t count = std::min(lanes, columns - j);
    const bool whole = count == lanes;
    if (!whole) std::copy(c + j, c + j + count, values);
    auto value = hn::LoadU(d, whole ? c + j : values);
    if (addend != nullptr) {
      const bool in_place = whole && finish.column_stride == 1;
      for (int64_t i = 0; !in_place && i < count; ++i) addends[i] = addend[(j + i) * finish.column_stride];
      value = hn::MulAdd(scale, hn::LoadU(d, in_place ? addend + j : addends), value);
    }
    hn::StoreU(activated(d, finish.activation, value), d, whole ? c + j : values);
    if (!whole) std::copy(values, values + count, c + j);
  }
}

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(multiply_block);
HWY_EXPORT(add_products);
HWY_EXPORT(finish_row);
HWY_EXPORT(target_converts_halves);
HWY_EXPORT(target_may_have_tiles);
HWY_EXPORT(round_to_tiles);
HWY_EXPORT(multiply_in_tiles);

// Rows of A that one thread multiplies by all of B: 240 rows of a block are 240 KiB, which leaves room in L2. With 36
// rows, reading B from L3 was measured to cost 8 %, with 72 rows 2 %.
constexpr int64_t kItemRowsLeast = 72, kItemRowsMost = 240;
// Up to this many rows, reading the weights from memory takes most of the time; they are split along K over the
// threads.
constexpr int64_t kFewRows = 16;
constexpr int64_t kLeastPart = int64_t{16} << 10;  // elements of B worth waking a thread for

void finish_rows_of_c(const Gemm& gemm, int64_t begin, int64_t end, int64_t first_column, int64_t columns) {
  if (gemm.finish.addend == nullptr && gemm.finish.activation.kind == ActivationKind::none) return;
  const auto finish_one = HWY_DYNAMIC_DISPATCH(finish_row);
  for (int64_t i = begin; i < end; ++i) {
    const float* addend = gemm.finish.addend;
    if (addend != nullptr) addend += i * gemm.finish.row_stride + first_column * gemm.finish.column_stride;
    finish_one(gemm.finish, addend, gemm.c + i * gemm.n + first_column, columns);
  }
}

/// Few rows, split-K: multiplies each block of B separately, then adds the products in order. Each thread has its own
/// blocks, always the same, so that they may stay in its cache; when they are done, it helps other threads.
void gemm_by_depth(const Gemm& gemm, float* products, ThreadPool& threads) {
  const int64_t most = gemm_depth(gemm.b.as), blocks = ceil_div(gemm.k, most), panels = round_up(gemm.n, kGemmPanel);
  const int64_t parts = std::clamp<int64_t>(blocks * panels * most / kLeastPart, 1, threads.size());
  const auto multiply = HWY_DYNAMIC_DISPATCH(multiply_block);
  std::vector<std::atomic<int64_t>> taken(static_cast<size_t>(parts));
  threads.parallel_for(parts, 1, [&](int64_t, int64_t, int thread) {
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t part = (thread + i) % parts, begin = blocks * part / parts, end = blocks * (part + 1) / parts;
      std::atomic<int64_t>& next = taken[static_cast<size_t>(part)];
      for (int64_t at = next++; at < end - begin; at = next++) {
        const int64_t block = gemm.backwards ? end - 1 - at : begin + at, first = block * most;
        multiply({.rows = gemm.m,
                  .columns = gemm.n,
                  .depth = std::min(most, gemm.k - first),
                  .a = gemm.a + first,
                  .lda = gemm.k,
                  .panels = gemm.b.from(first * panels),
                  .c = products + block * gemm.m * gemm.n,
                  .ldc = gemm.n,
                  .next = (gemm.backwards ? -1 : 1) * most * panels * gemm.b.number_bytes()});
      }
    }
  });
  HWY_DYNAMIC_DISPATCH(add_products)(products, blocks, gemm.m * gemm.n, gemm.c);
  finish_rows_of_c(gemm, 0, gemm.m, 0, gemm.n);
}

/// AMX: converts A to tiles. Then a work item is some panels, each through all blocks of B, and if panels are few, a
/// range of rows.
void gemm_in_tiles(const Gemm& gemm, unsigned char* a, ThreadPool& threads) {
  constexpr int64_t kPanelsTogether = 2, kLeastSteps = 32;
  threads.parallel_for(ceil_div(gemm.k, kGemmTileDepth), kLeastSteps, [&](int64_t begin, int64_t end, int) {
    HWY_DYNAMIC_DISPATCH(round_to_tiles)(gemm, begin, end, a);
  });
  const int64_t row_tiles = ceil_div(gemm.m, kTileRows), panels = ceil_div(gemm.n, kGemmPanel);
  const int64_t across = ceil_div(panels, kPanelsTogether), wanted = ceil_div(4 * threads.size(), across);
  const int64_t down = std::min(ceil_div(row_tiles, 2), wanted);
  threads.parallel_for(across * down, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t part = item % down, panel = item / down * kPanelsTogether;
      const int64_t row = row_tiles * part / down, row_end = row_tiles * (part + 1) / down;
      const int64_t panel_end = std::min(panel + kPanelsTogether, panels);
      HWY_DYNAMIC_DISPATCH(multiply_in_tiles)(gemm, a, row, row_end, panel, panel_end);
      const int64_t column = panel * kGemmPanel, columns = std::min(panel_end * kGemmPanel, gemm.n) - column;
      finish_rows_of_c(gemm, row * kTileRows, std::min(row_end * kTileRows, gemm.m), column, columns);
    }
  });
}

/// Packs B, converting each of its elements by number(element).
template <class T, class Number>
PackedB pack(const float* b, int64_t k, int64_t n, bool transposed, PackedAs as, T* packed, ThreadPool& threads,
             Number number) {
  const int64_t most = gemm_depth(as), panels = ceil_div(n, kGemmPanel), blocks = ceil_div(k, most);
  const int64_t together = terms_together(as);
  threads.parallel_for(blocks * panels, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t first = item / panels * most, depth = std::min(most, k - first);
      const int64_t column = item % panels * kGemmPanel, columns = std::min(kGemmPanel, n - column);
      const int64_t stored = rows_held(as, depth);
      T* to = packed + first * panels * kGemmPanel + column * stored;
      std::fill_n(to, stored * kGemmPanel, T{});
      for (int64_t l = 0; l < depth; ++l) {
        const int64_t row = first + l;
        for (int64_t j = 0; j < columns; ++j) {
          to[(l / together * kGemmPanel + j) * together + l % together] =
              number(b[transposed ? (column + j) * k + row : row * n + column + j]);
        }
      }
    }
  });
  return {packed, as};
}

}  // namespace

int64_t packed_b_count(int64_t k, int64_t n) { return checked_mul(k, round_up(n, kGemmPanel)); }

PackedAs bf16_of_machine() {
  if (has_unit(Bf16Unit::amx)) return PackedAs::bf16_tiles;
  return has_unit(Bf16Unit::avx512_bf16) ? PackedAs::bf16_dots : PackedAs::bf16;
}

int64_t packed_bf16_count(int64_t k, int64_t n, PackedAs as) { return packed_b_count(rows_held(as, k), n); }

PackedB pack_b(const float* b, int64_t k, int64_t n, bool transposed, float scale, float* packed, ThreadPool& threads) {
  return pack(b, k, n, transposed, PackedAs::f32, packed, threads, [scale](float value) { return scale * value; });
}

PackedB pack_b_small(const float* b, int64_t k, int64_t n, bool transposed, float scale, float* packed,
                     ThreadPool& threads) {
  const auto is_half = [scale](float value) { return half_to_float(float_to_half(scale * value)) == scale * value; };
  constexpr int64_t kLookedAt = 1024;  // numbers that almost always decide: packing twice takes long
  if (HWY_DYNAMIC_DISPATCH(target_converts_halves)() && std::all_of(b, b + std::min(k * n, kLookedAt), is_half)) {
    std::atomic<bool> exact = true;
    const auto half_of = [&](float value) {
      const uint16_t half = float_to_half(scale * value);
      if (half_to_float(half) != scale * value) exact.store(false, std::memory_order_relaxed);
      return half;
    };
    const PackedB halves =
        pack(b, k, n, transposed, PackedAs::f16, reinterpret_cast<uint16_t*>(packed), threads, half_of);
    if (exact) return halves;
  }
  return pack_b(b, k, n, transposed, scale, packed, threads);
}

PackedB pack_b_bf16(const float* b, int64_t k, int64_t n, bool transposed, float scale, PackedAs as, uint16_t* packed,
                    ThreadPool& threads) {
  return pack(b, k, n, transposed, as, packed, threads, [scale](float value) { return to_bf16(scale * value); });
}

void gemm_block(const GemmBlock& block) { HWY_DYNAMIC_DISPATCH(multiply_block)(block); }

int64_t gemm_workspace_count(int64_t m, int64_t n, int64_t k, PackedAs as) {
  const int64_t products = m <= kFewRows && k > kGemmDepth ? checked_product({ceil_div(k, kGemmDepth), m, n}) : 0;
  if (as != PackedAs::bf16_tiles) return products;
  return std::max(products, checked_mul(round_up(m, kTileRows), rows_held(as, k) / 2));  // A in tiles
}

void gemm(const Gemm& asked, float* workspace, ThreadPool& threads) {
  Gemm gemm = asked;
  if (gemm.b.as == PackedAs::bf16_tiles && gemm.m > kGemmDotRows && HWY_DYNAMIC_DISPATCH(target_may_have_tiles)()) {
    return gemm_in_tiles(gemm, reinterpret_cast<unsigned char*>(workspace), threads);
  }
  if (gemm.b.as == PackedAs::bf16_dots && gemm.m > kGemmDotRows) gemm.b.as = PackedAs::bf16;
  if (gemm_workspace_count(gemm.m, gemm.n, gemm.k) > 0) return gemm_by_depth(gemm, workspace, threads);
  // Work items are ranges of rows and, if there are too few for the threads, also of columns. A thread multiplies its
  // rows by all of B, which comes from memory, so work items are large unless that leaves a thread without work.
  const int64_t wanted = 4 * threads.size(), panels = ceil_div(gemm.n, kGemmPanel);
  const auto rows_each = [&](int64_t pieces) { return round_up(ceil_div(gemm.m, pieces), 12); };
  const int64_t rows =
      std::clamp(rows_each(wanted), std::min(kItemRowsLeast, rows_each(threads.size())), kItemRowsMost);
  const int64_t row_items = ceil_div(gemm.m, rows);
  const int64_t column_items = row_items < threads.size() ? std::min(panels, ceil_div(wanted, row_items)) : 1;
  const int64_t columns = ceil_div(panels, column_items) * kGemmPanel;
  const int64_t items_across = ceil_div(gemm.n, columns);
  const int64_t most = gemm_depth(gemm.b.as);
  const auto multiply = HWY_DYNAMIC_DISPATCH(multiply_block);
  threads.parallel_for(row_items * items_across, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t row = item / items_across * rows, count = std::min(rows, gemm.m - row);
      const int64_t column = item % items_across * columns, width = std::min(columns, gemm.n - column);
      for (int64_t first = 0; first < gemm.k; first += most) {
        const int64_t depth = std::min(most, gemm.k - first);
        multiply({.rows = count,
                  .columns = width,
                  .depth = depth,
                  .a = gemm.a + row * gemm.k + first,
                  .lda = gemm.k,
                  .panels = gemm.b.from(first * panels * kGemmPanel + column * rows_held(gemm.b.as, depth)),
                  .c = gemm.c + row * gemm.n + column,
                  .ldc = gemm.n,
                  .add = first > 0,
                  .ahead = std::min(most, gemm.k - first - depth)});
      }
      finish_rows_of_c(gemm, row, row + count, column, width);
    }
  });
}

}  // namespace convlab
#endif  // HWY_ONCE
