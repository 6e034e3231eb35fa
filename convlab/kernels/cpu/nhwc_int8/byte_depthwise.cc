// Depthwise convolution of quantized values, one output row at a time.

#include "convlab/kernels/cpu/nhwc_int8/byte_depthwise.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/simd/simd.h"

#define HWY_TARGET_INCLUDE "convlab/kernels/cpu/nhwc_int8/byte_depthwise.cc"
#include "hwy/foreach_target.h"  // must come before highway.h

#include "convlab/kernels/cpu/nhwc_int8/byte_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace convlab::HWY_NAMESPACE {

/// Returns the address of a pixel of the image, or of zero points if it is outside.
HWY_INLINE const uint8_t* pixel_at(const ByteDepthwiseRow& row, int64_t h, int64_t w) {
  const ConvProblem& problem = row.problem;
  const bool inside = h >= 0 && h < problem.h && w >= 0 && w < problem.w;
  return inside ? row.x + (h * problem.w + w) * pixel_bytes(problem.c) : row.zeros;
}

#if CONVLAB_BYTE_VECTORS

constexpr int64_t kBlock = kVectorBytes;

/// The channels of a block.
struct Part {
  int64_t first;
  PartOfVector bytes;
};

/// Four rows of a column, interleaved: for each unit of rows four vectors, one for each vector of a block's sums.
template <ByteUnit kUnit>
struct Column {
  static constexpr int kUnits = 4 / products_of(kUnit);
  Whole units[kUnits][4];

  HWY_INLINE void interleave(const Whole (&rows)[4]) {
    if constexpr (kUnits == 1) {
      words_of_two(low_bytes(rows[0], rows[1]), low_bytes(rows[2], rows[3]), units[0][0], units[0][1]);
      words_of_two(high_bytes(rows[0], rows[1]), high_bytes(rows[2], rows[3]), units[0][2], units[0][3]);
    } else {
#pragma GCC unroll 2
      for (int i = 0; i < kUnits; ++i) {
        const Whole a = rows[2 * i], b = rows[2 * i + 1];
        words_of_two(low_bytes(a, zeros()), low_bytes(b, zeros()), units[i][0], units[i][1]);
        words_of_two(high_bytes(a, zeros()), high_bytes(b, zeros()), units[i][2], units[i][3]);
      }
    }
  }

 private:
  static HWY_INLINE void words_of_two(Whole a, Whole b, Whole& low, Whole& high) {
    low = low_words(a, b);
    high = high_words(a, b);
  }
};

/// Bytes of a column's weights.
template <ByteUnit kUnit>
constexpr int64_t kColumnWeights = Column<kUnit>::kUnits * 4 * kVectorBytes;

template <bool kWhole>
HWY_INLINE Whole load_channels(const uint8_t* pixel, const Part& part) {
  return kWhole ? load(pixel + part.first) : part.bytes.load(pixel + part.first);
}

/// Sums of one output, and their quantization.
struct Sums {
  Whole sum[4];
  HWY_INLINE explicit Sums(const int32_t* start) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) sum[v] = load(start + v * kVectorSums);
  }

  template <ByteUnit kUnit>
  HWY_INLINE void add(const Column<kUnit>& column, const uint8_t* w) {
#pragma GCC unroll 2
    for (int i = 0; i < Column<kUnit>::kUnits; ++i) {
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v) add_products<kUnit>(sum[v], column.units[i][v], load(w + (4 * i + v) * kVectorBytes));
    }
  }

  HWY_INLINE Whole levels(const Rule& rule, const float* factors) const {
    Real value[4];
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) value[v] = times(real(sum[v]), load_real(factors + v * kVectorSums));
    return rule.levels(rule.words(value[0], value[1]), rule.words(value[2], value[3]));
  }
};

template <bool kWhole>
HWY_INLINE void store_channels(Whole levels, uint8_t* to, const Part& part) {
  if (kWhole) {
    std::memcpy(to + part.first, &levels, sizeof(levels));
  } else {
    part.bytes.store(levels, to + part.first);
  }
}

/// For 3x3 filters: loads and interleaves each image column once, for all outputs that use it.
template <ByteUnit kUnit, int kStride, bool kWhole>
void block_of_three(const ByteDepthwiseRow& row, const Part& part, const uint8_t* w, const int32_t* start,
                    const float* factors) {
  const ConvProblem& problem = row.problem;
  const int64_t y_step = pixel_bytes(problem.k), top = row.row * problem.stride_h - problem.pad_top;
  const int64_t pixel = pixel_bytes(problem.c);
  const Rule rule(row.rule);
  const uint8_t* rows[3];
  for (int r = 0; r < 3; ++r) {
    const int64_t h = top + r * problem.dilation_h;
    rows[r] = h >= 0 && h < problem.h ? row.x + h * problem.w * pixel : row.zeros;
  }
  // Stores of bytes may alias anything, so the loop reads only copies.
  const Part own = part;
  const uint8_t* const outside = row.zeros;
  const int64_t width = problem.w * pixel, outputs = problem.q();
  int64_t at = -problem.pad_left * pixel;
  Column<kUnit> column;
  const auto next_column = [&]() HWY_ATTR {
    const bool inside = at >= 0 && at < width;
    Whole of_row[4];
#pragma GCC unroll 3
    for (int r = 0; r < 3; ++r) of_row[r] = load_channels<kWhole>(inside ? rows[r] + at : outside, own);
    of_row[3] = zeros();
    at += pixel;
    column.interleave(of_row);
  };
  const uint8_t *const w0 = w, *const w1 = w0 + kColumnWeights<kUnit>, *const w2 = w1 + kColumnWeights<kUnit>;
  next_column();
  Sums sums(start), next(start);  // of an output and, if they share two columns, the next one
  sums.add(column, w0);
  if constexpr (kStride == 1) {
    next_column();
    sums.add(column, w1);
    next.add(column, w0);
  }
  uint8_t* y = row.y;
  for (int64_t q = 0; q < outputs; ++q, y += y_step) {
    if constexpr (kStride == 2) {
      next_column();
      sums.add(column, w1);
    }
    next_column();
    sums.add(column, w2);
    store_channels<kWhole>(sums.levels(rule, factors), y, own);
    Sums last(start);
    last.add(column, w0);
    if constexpr (kStride == 1) {
      next.add(column, w1);
      sums = next;
      next = last;
    } else {
      sums = last;
    }
  }
}

template <ByteUnit kUnit, bool kWhole>
void block_of_any(const ByteDepthwiseRow& row, const Part& part, const uint8_t* w, const int32_t* start,
                  const float* factors) {
  const ConvProblem& problem = row.problem;
  const int64_t y_step = pixel_bytes(problem.k), top = row.row * problem.stride_h - problem.pad_top;
  const Rule rule(row.rule);
  for (int64_t q = 0; q < problem.q(); ++q) {
    Sums sums(start);
    const uint8_t* w_at = w;
    for (int64_t s = 0; s < problem.s; ++s) {
      const int64_t at = q * problem.stride_w - problem.pad_left + s * problem.dilation_w;
      for (int64_t r = 0; r < problem.r; r += 4, w_at += kColumnWeights<kUnit>) {
        Whole rows[4];
        for (int i = 0; i < 4; ++i) {
          const bool inside = r + i < problem.r;
          const int64_t h = top + (r + i) * problem.dilation_h;
          rows[i] = inside ? load_channels<kWhole>(pixel_at(row, h, at), part) : zeros();
        }
        Column<kUnit> column;
        column.interleave(rows);
        sums.add(column, w_at);
      }
    }
    store_channels<kWhole>(sums.levels(rule, factors), row.y + q * y_step, part);
  }
}

template <ByteUnit kUnit, bool kWhole>
void one_block(const ByteDepthwiseRow& row, const Part& part, const uint8_t* w, const int32_t* start,
               const float* factors) {
  const ConvProblem& problem = row.problem;
  if (problem.r == 3 && problem.s == 3 && problem.dilation_w == 1) {
    if (problem.stride_w == 1) return block_of_three<kUnit, 1, kWhole>(row, part, w, start, factors);
    if (problem.stride_w == 2) return block_of_three<kUnit, 2, kWhole>(row, part, w, start, factors);
  }
  block_of_any<kUnit, kWhole>(row, part, w, start, factors);
}

template <ByteUnit kUnit>
void row_of_unit(const ByteDepthwiseRow& row) {
  const int64_t channels = pixel_bytes(row.problem.c), blocks = ceil_div(channels, kBlock);
  const int64_t weights = byte_depthwise_weights(row.problem, row.unit) / blocks;
  for (int64_t block = 0; block < blocks; ++block) {
    const int64_t first = block * kBlock;
    const Part part{first, PartOfVector(channels - first)};
    const auto compute = channels - first >= kBlock ? one_block<kUnit, true> : one_block<kUnit, false>;
    compute(row, part, row.w + block * weights, row.start + first, row.factors + first);
  }
}

void any_row(const ByteDepthwiseRow& row) {
  if (row.unit == ByteUnit::dots) return row_of_unit<ByteUnit::dots>(row);
  row.unit == ByteUnit::pairs ? row_of_unit<ByteUnit::pairs>(row) : row_of_unit<ByteUnit::words>(row);
}

#else

constexpr int64_t kBlock = 16;

void any_row(const ByteDepthwiseRow& row) {
  const ConvProblem& problem = row.problem;
  const int64_t top = row.row * problem.stride_h - problem.pad_top;
  for (int64_t q = 0; q < problem.q(); ++q) {
    for (int64_t c = 0; c < problem.c; ++c) {
      const int64_t place = byte_depthwise_place(c);
      int32_t sum = row.start[place];
      for (int64_t r = 0; r < problem.r; ++r) {
        for (int64_t s = 0; s < problem.s; ++s) {
          const int64_t column = q * problem.stride_w - problem.pad_left + s * problem.dilation_w;
          const uint8_t* const at = row.w + byte_depthwise_weight(problem, row.unit, c, r, s);
          const bool words = row.unit == ByteUnit::words;
          const int weight = words ? *reinterpret_cast<const int16_t*>(at) : *reinterpret_cast<const int8_t*>(at);
          sum += weight * pixel_at(row, top + r * problem.dilation_h, column)[c];
        }
      }
      row.y[q * pixel_bytes(problem.k) + c] = level_of(static_cast<float>(sum) * row.factors[place], row.rule);
    }
  }
}

#endif

int64_t block_of_target() { return kBlock; }

}  // namespace convlab::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace convlab {
namespace {

HWY_EXPORT(any_row);
HWY_EXPORT(block_of_target);

/// Returns the bytes of a block's weights for a unit of rows of a column.
int64_t unit_bytes() { return 4 * byte_depthwise_block(); }

/// Returns the units of a column: its rows are processed four at a time.
int64_t units_of(const ConvProblem& problem, ByteUnit unit) { return ceil_div(problem.r, 4) * (4 / products_of(unit)); }

}  // namespace

int64_t byte_depthwise_block() { return HWY_DYNAMIC_DISPATCH(block_of_target)(); }

/// Within 16 bytes, four channels belong to one vector, the next four to the next.
int64_t byte_depthwise_place(int64_t channel) {
  const int64_t block = byte_depthwise_block(), in_block = channel % block;
  return channel - in_block + in_block % 16 / 4 * (block / 4) + in_block / 16 * 4 + in_block % 4;
}

int64_t byte_depthwise_weights(const ConvProblem& problem, ByteUnit unit) {
  const int64_t blocks = ceil_div(pixel_bytes(problem.c), byte_depthwise_block());
  return checked_product({blocks, problem.s, units_of(problem, unit), unit_bytes()});
}

int64_t byte_depthwise_weight(const ConvProblem& problem, ByteUnit unit, int64_t channel, int64_t r, int64_t s) {
  const int64_t block = channel / byte_depthwise_block(), products = products_of(unit);
  const int64_t at = (block * problem.s + s) * units_of(problem, unit) + r / products;
  return at * unit_bytes() + byte_depthwise_place(channel % byte_depthwise_block()) * 4 + r % products * (4 / products);
}

void compute_row(const ByteDepthwiseRow& row) { HWY_DYNAMIC_DISPATCH(any_row)(row); }

}  // namespace convlab
#endif  // HWY_ONCE
