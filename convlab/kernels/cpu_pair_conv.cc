// Convolutions with 16 images in the lanes and neighbouring channels in pairs of bfloat16: see cpu_bf16_sums.h.
//
// Threads: a piece of work is a band of output rows of 16 images. Where pixels lie in pairs of channels and there is no
//   padding, tiles are loaded from the input as it is; plain images, and padded ones, are copied in pairs, with their
//   border, to a thread's scratch before. The pairs of a filter's row are one behind the other in memory: 5 x 12
//   channels are 30 pairs, two tiles of 15.
// Raw pixels of one channel make pairs with their right neighbours: no operand is half empty. A tile's rows are then
//   maps x 2 phases, which is the output at the pair's first pixel and the next one, and its terms (pair of columns,
//   row) of the filter: 3 x 5 = 15 for 5 x 5. They are made contiguous by copying the rows under one row of output to
//   a "window", [pair of columns][row of the filter]. One of the weights is 0 where both phases do not read both
//   pixels; pixels that are bytes are never NaN.

#include "convlab/kernels/cpu_pair_conv.h"

#include <array>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu_lane_order.h"
#include "convlab/kernels/cpu_pair_weights.h"

namespace convlab {
namespace {

constexpr int64_t kCopiedBytes = int64_t{256} << 10;  // what a band's copied pixels should take
constexpr int64_t kRunOutputs = 36;                   // outputs at a time where they become plain
constexpr int64_t kFloatPixel = kImageLanes * sizeof(float);

/// How a step is computed, and what scratch each thread needs for it.
struct Cut {
  bool pooled = false, phases = false, copies = false, split = false, to_plain = false;
  int64_t window = 1;              ///< side of the squares that are pooled
  int64_t grid_h = 0, grid_w = 0;  ///< rows and columns of the output
  int64_t blocks = 0, bands = 0;   ///< of 16 images, and of rows of each
  int64_t rows = 0;                ///< output rows of a band
  int64_t channel_pairs = 0;       ///< of a pixel; with phases, 1: a pair of pixels
  int64_t held_h = 0, held_w = 0;  ///< rows, and columns (with phases, pairs of them), as the sums read them
  int64_t column_pairs = 0;        ///< with phases: of a filter's row
  int64_t segment_rows = 0;        ///< filter rows (or elements, if dilated) whose pairs are not contiguous
  int64_t places = 0;              ///< of a band: see PairConvolution
  int64_t run = 0;                 ///< outputs computed at a time
  int64_t pixels_bytes = 0, window_bytes = 0, lanes_bytes = 0, sums_bytes = 0;  ///< of a thread's scratch

  int64_t scratch_bytes() const { return pixels_bytes + window_bytes + lanes_bytes + sums_bytes; }
  int64_t held_row() const { return held_w * channel_pairs * kPairBytes; }
  int64_t held_plane() const { return held_h * held_row(); }
  int64_t window_side() const { return window_bytes / (phases ? window : 1); }  ///< bytes for one row of the output
};

bool takes_phases(const ConvStep& step) {
  const ConvProblem& problem = step.problem;
  return step.input == ElementType::u8 && step.input_layout == Layout::plain && problem.c == 1 &&
         problem.stride_w == 1 && problem.dilation_w == 1;
}

/// Rows of a filter (or its elements, if it is dilated) whose pairs lie apart, and how many pairs each has.
struct Terms {
  int64_t segments;
  PairTiles tiles;
};
Terms terms_of(const ConvStep& step) {
  const ConvProblem& problem = step.problem;
  if (takes_phases(step)) return {1, PairTiles(checked_mul(problem.s / 2 + 1, problem.r))};
  const int64_t channel_pairs = ceil_div(problem.c, 2);
  if (problem.unit_dilation()) return {problem.r, PairTiles(checked_mul(problem.s, channel_pairs))};
  return {problem.r * problem.s, PairTiles(channel_pairs)};
}

TileWeights weights_of(const ConvStep& step, Math math) {
  const bool phases = takes_phases(step);
  const Terms terms = terms_of(step);
  return tile_weights(checked_mul(step.problem.k, phases ? 2 : 1), phases ? 2 : 1, terms.tiles, terms.segments, math,
                      step.input == ElementType::u8);
}

/// Input rows under so many rows of output.
int64_t rows_below(const ConvProblem& problem, const Cut& cut, int64_t rows) {
  return (rows * cut.window - 1) * problem.stride_h + (problem.r - 1) * problem.dilation_h + 1;
}

Cut cut_of(const ConvStep& step, Math math, int threads) {
  const ConvProblem& problem = step.problem;
  Cut cut;
  cut.pooled = step.epilogue.pool.has_value();
  cut.phases = takes_phases(step);
  cut.copies = step.input_layout == Layout::plain || problem.padded();
  cut.split = math == Math::bf16x2 && step.input != ElementType::u8;
  cut.to_plain = step.output_layout == Layout::plain;
  cut.window = cut.pooled ? 2 : 1;
  cut.grid_h = problem.p() / cut.window;
  cut.grid_w = problem.q() / cut.window;
  cut.blocks = ceil_div(problem.n, kImageLanes);
  cut.channel_pairs = ceil_div(problem.c, 2);
  cut.column_pairs = problem.s / 2 + 1;
  const int64_t columns = problem.pad_left + problem.w + problem.pad_right;
  const int64_t across = cut.pooled ? cut.grid_w : ceil_div(problem.q(), 2);  // pairs of outputs
  cut.held_w = cut.phases ? across + cut.column_pairs - 1 : columns;

  // As many rows as the cache holds, but bands enough to keep all threads busy.
  const int64_t planes = cut.split ? 2 : 1, row = checked_mul(cut.held_row(), planes);
  const int64_t step_h = cut.window * problem.stride_h;
  const int64_t fitting = (kCopiedBytes / row - rows_below(problem, cut, 1)) / step_h + 1;
  const int64_t for_cache = cut.copies ? ceil_div(cut.grid_h, std::max<int64_t>(fitting, 1)) : 1;
  const int64_t for_threads = ceil_div(2 * threads, cut.blocks);
  cut.rows = ceil_div(cut.grid_h, std::clamp<int64_t>(std::max(for_cache, for_threads), 1, cut.grid_h));
  cut.bands = ceil_div(cut.grid_h, cut.rows);
  cut.held_h = cut.copies ? rows_below(problem, cut, cut.rows) : problem.h;
  cut.run = cut.phases ? cut.grid_w : cut.to_plain ? kRunOutputs : cut.rows * cut.grid_w;
  cut.places = cut.phases ? across * cut.window : cut.rows * cut.grid_w * cut.window * cut.window;
  if (cut.copies) {
    cut.pixels_bytes = checked_product({row, cut.held_h});
    cut.lanes_bytes = 2 * checked_mul(cut.phases ? 2 * cut.held_w : columns, kFloatPixel);
  }
  if (cut.phases) cut.window_bytes = checked_product({cut.window, cut.held_w, problem.r, kPairBytes});
  if (cut.to_plain) cut.sums_bytes = checked_product({problem.k, cut.run, kFloatPixel});
  return cut;
}

/// One launch: the tables that all pieces share, and the pieces.
class Launch {
 public:
  Launch(const ConvArgs& args, Math math, Bf16Unit unit, int threads)
      : args_(args),
        step_(args.step),
        problem_(args.step.problem),
        unit_(unit),
        cut_(cut_of(step_, math, threads)),
        w_(weights_of(step_, math)) {
    w_.data = static_cast<const std::byte*>(args.prepared);
    scratch_ = static_cast<std::byte*>(args.workspace);
    x_at_ = reinterpret_cast<int64_t*>(scratch_ + cut_.scratch_bytes() * threads);
    offsets_ = x_at_ + cut_.places;
    auto* const bias = reinterpret_cast<float*>(offsets_ + w_.term_tiles);
    quiet_bias(step_.epilogue.bias ? args.bias : nullptr, problem_.k, bias);
    const Terms terms = terms_of(step_);
    for (int64_t i = 0; i < w_.term_tiles; ++i) {
      const int64_t segment = i / terms.tiles.tiles;
      offsets_[i] = segment_at(segment) + terms.tiles.first(i % terms.tiles.tiles) * kPairBytes;
    }
    for (int64_t i = 0; i < cut_.places; ++i) x_at_[i] = place_at(i);
    const int64_t pixel = ceil_div(problem_.k, 2) * kPairBytes, plane = cut_.grid_h * cut_.grid_w * pixel;
    end_ = {.maps = problem_.k,
            .bias = bias,
            .activation = step_.epilogue.activation,
            .pairs_step = pixel,
            .low_at = math == Math::bf16 ? 0 : plane,
            .floats_step = kImageLanes,
            .map_step = cut_.run * kImageLanes};
  }

  int64_t pieces() const { return cut_.blocks * cut_.bands; }

  void compute(int64_t piece, int thread) const {
    const int64_t block = piece / cut_.bands, first = piece % cut_.bands * cut_.rows;
    const int64_t rows = std::min(cut_.rows, cut_.grid_h - first);
    std::byte* const scratch = scratch_ + thread * cut_.scratch_bytes();
    const int64_t step_h = cut_.window * problem_.stride_h;
    const std::byte* x = scratch;
    if (cut_.copies) {
      const int64_t top = first * step_h - problem_.pad_top, count = rows_below(problem_, cut_, rows);
      for (int64_t row = 0; row < count; ++row) copy_row(block, top + row, scratch + row * cut_.held_row(), scratch);
    } else {
      x = block_of_x(block) + first * step_h * cut_.held_row();
    }
    if (cut_.phases) {
      for (int64_t row = 0; row < rows; ++row) {
        fill_window(x + row * step_h * cut_.held_row(), scratch + cut_.pixels_bytes);
        compute_run(block, scratch + cut_.pixels_bytes, 0, (first + row) * cut_.grid_w, cut_.grid_w, scratch);
      }
      return;
    }
    for (int64_t run = 0; run < rows * cut_.grid_w; run += cut_.run) {
      compute_run(block, x, run, first * cut_.grid_w + run, std::min(cut_.run, rows * cut_.grid_w - run), scratch);
    }
  }

 private:
  int64_t segment_at(int64_t segment) const {
    if (cut_.phases) return 0;
    const int64_t pixel = cut_.channel_pairs * kPairBytes;
    if (problem_.unit_dilation()) return segment * cut_.held_row();
    return segment / problem_.s * problem_.dilation_h * cut_.held_row() +
           segment % problem_.s * problem_.dilation_w * pixel;
  }

  int64_t place_at(int64_t place) const {
    if (cut_.phases) {
      return place % cut_.window * cut_.window_side() + place / cut_.window * problem_.r * kPairBytes;
    }
    const int64_t squares = cut_.window * cut_.window, output = place / squares, corner = place % squares;
    const int64_t row = output / cut_.grid_w * cut_.window + corner / cut_.window;
    const int64_t column = output % cut_.grid_w * cut_.window + corner % cut_.window;
    return row * problem_.stride_h * cut_.held_row() + column * problem_.stride_w * cut_.channel_pairs * kPairBytes;
  }

  int64_t low_at() const {
    if (!cut_.split) return 0;
    return cut_.copies ? cut_.held_plane() : problem_.h * cut_.held_row();
  }
  const std::byte* block_of_x(int64_t block) const {
    return static_cast<const std::byte*>(args_.x) + block * problem_.h * cut_.held_row() * (cut_.split ? 2 : 1);
  }

  /// Row `row` of 16 images as pairs, zeros around the image included, and of the low part what is split.
  void copy_row(int64_t block, int64_t row, std::byte* to, std::byte* scratch) const {
    std::byte* const low = cut_.split ? to + low_at() : nullptr;
    if (row < 0 || row >= problem_.h) {
      std::memset(to, 0, static_cast<size_t>(cut_.held_row()));
      if (low != nullptr) std::memset(low, 0, static_cast<size_t>(cut_.held_row()));
    } else if (step_.input_layout != Layout::plain) {
      const int64_t plane = problem_.h * problem_.w * cut_.channel_pairs * kPairBytes;
      const std::byte* from = static_cast<const std::byte*>(args_.x) + block * plane * (cut_.split ? 2 : 1) +
                              row * problem_.w * cut_.channel_pairs * kPairBytes;
      copy_pairs(from, to);
      if (low != nullptr) copy_pairs(from + plane, low);
    } else {
      auto* const even = reinterpret_cast<float*>(scratch + cut_.pixels_bytes + cut_.window_bytes);
      float* const odd = even + cut_.lanes_bytes / 2 / static_cast<int64_t>(sizeof(float));
      if (cut_.phases) {
        copy_lanes(block, row, 2 * cut_.held_w, even);
        pack_pairs(even, even + kImageLanes, cut_.held_w, 2 * kImageLanes, to, nullptr, kPairBytes);
        return;
      }
      for (int64_t c = 0; c < problem_.c; c += 2) {
        const bool has_odd = c + 1 < problem_.c;
        copy_lanes(block, c * problem_.h + row, cut_.held_w, even);
        if (has_odd) copy_lanes(block, (c + 1) * problem_.h + row, cut_.held_w, odd);
        const int64_t at = c / 2 * kPairBytes;
        pack_pairs(even, has_odd ? odd : nullptr, cut_.held_w, kImageLanes, to + at,
                   low != nullptr ? low + at : nullptr, cut_.channel_pairs * kPairBytes);
      }
    }
  }

  void copy_pairs(const std::byte* from, std::byte* to) const {
    const int64_t pixel = cut_.channel_pairs * kPairBytes;
    std::memset(to, 0, static_cast<size_t>(problem_.pad_left * pixel));
    to += problem_.pad_left * pixel;
    std::memcpy(to, from, static_cast<size_t>(problem_.w * pixel));
    std::memset(to + problem_.w * pixel, 0, static_cast<size_t>(problem_.pad_right * pixel));
  }

  /// Row `row` of all channels' rows of 16 plain images, `columns` pixels of it from the left border on, as floats in
  /// lanes; zeros outside. Lanes without an image get the last one's.
  void copy_lanes(int64_t block, int64_t row, int64_t columns, float* to) const {
    std::fill_n(to, problem_.pad_left * kImageLanes, 0.0f);
    const int64_t inside = std::min(problem_.w, columns - problem_.pad_left);
    float* const pixels = to + problem_.pad_left * kImageLanes;
    if (step_.input == ElementType::u8) {
      lanes_of(static_cast<const uint8_t*>(args_.x), block, row, inside, pixels);
    } else {
      lanes_of(static_cast<const float*>(args_.x), block, row, inside, pixels);
    }
    std::fill(pixels + inside * kImageLanes, to + columns * kImageLanes, 0.0f);
  }
  template <class T>
  void lanes_of(const T* x, int64_t block, int64_t row, int64_t count, float* to) const {
    const int64_t image_count = problem_.c * problem_.h * problem_.w;
    std::array<const T*, kImageLanes> images;
    for (int64_t i = 0; i < kImageLanes; ++i) {
      images[static_cast<size_t>(i)] =
          x + std::min(block * kImageLanes + i, problem_.n - 1) * image_count + row * problem_.w;
    }
    to_lanes(images.data(), count, to);
  }

  /// The pairs of pixels under one row of output (two, if pooled): [row of output][pair of columns][row of the filter].
  void fill_window(const std::byte* x, std::byte* to) const {
    for (int64_t side = 0; side < cut_.window; ++side) {
      for (int64_t r = 0; r < problem_.r; ++r) {
        const std::byte* const from = x + (side * problem_.stride_h + r * problem_.dilation_h) * cut_.held_row();
        spread_pairs(from, cut_.held_w, to + side * cut_.window_side() + r * kPairBytes, problem_.r * kPairBytes);
      }
    }
  }

  /// `count` outputs from `output` on, of the band's places those from output `run` on.
  void compute_run(int64_t block, const std::byte* x, int64_t run, int64_t output, int64_t count,
                   std::byte* scratch) const {
    const int64_t squares = cut_.window * cut_.window, plane = cut_.grid_h * cut_.grid_w;
    PairConvolution job{.w = w_,
                        .x = x,
                        .low_at = low_at(),
                        .offsets = offsets_,
                        .x_at = cut_.phases ? x_at_ : x_at_ + run * squares,
                        .places = cut_.phases ? cut_.places : count * squares,
                        .phases = cut_.phases,
                        .pooled = cut_.pooled,
                        .outputs = count,
                        .end = end_};
    if (!cut_.to_plain) {
      const int64_t parts = end_.low_at != 0 ? 2 : 1;
      job.end.pairs = reinterpret_cast<std::byte*>(args_.y) + (block * plane * parts + output) * end_.pairs_step;
      convolve_pairs(unit_, job);
      return;
    }
    auto* const sums = reinterpret_cast<float*>(scratch + cut_.scratch_bytes() - cut_.sums_bytes);
    job.end.floats = sums;
    convolve_pairs(unit_, job);
    const int64_t wanted = std::min(kImageLanes, problem_.n - block * kImageLanes);
    for (int64_t map = 0; map < problem_.k; ++map) {
      std::array<float*, kImageLanes> images;
      for (int64_t i = 0; i < wanted; ++i) {
        images[static_cast<size_t>(i)] = args_.y + ((block * kImageLanes + i) * problem_.k + map) * plane + output;
      }
      from_lanes(sums + map * end_.map_step, count, images.data(), wanted);
    }
  }

  const ConvArgs& args_;
  const ConvStep& step_;
  const ConvProblem& problem_;
  Bf16Unit unit_;
  Cut cut_;
  TileWeights w_;
  PairsEnd end_;
  std::byte* scratch_;  ///< by thread
  int64_t *x_at_, *offsets_;
};

}  // namespace

Refusal refuse_without(Bf16Unit unit) {
  if (has_unit(unit)) return std::nullopt;
  return fmt::format("needs {}, which this processor or system does not offer", name_of(unit));
}

Refusal refuse_pairs(const ConvStep& step, Bf16Unit unit) {
  if (const Refusal refusal = refuse_without(unit)) return refusal;
  if (step.problem.groups != 1) return fmt::format("convolves all channels, not {} groups", step.problem.groups);
  if (step.epilogue.pool && !step.epilogue.pool->is_max_2x2()) return "pools maxima of 2x2 squares alone";
  return std::nullopt;
}

size_t pairs_prepared_bytes(const ConvStep& step, Math math) {
  return static_cast<size_t>(weights_of(step, math).bytes());
}

size_t pairs_workspace_bytes(const ConvStep& step, const DeviceCaps& caps, Math math) {
  const Cut cut = cut_of(step, math, caps.threads);
  const int64_t tables = checked_mul(checked_add(cut.places, weights_of(step, math).term_tiles), sizeof(int64_t));
  const int64_t bias = checked_mul(step.problem.k, sizeof(float));
  return static_cast<size_t>(checked_add(checked_mul(cut.scratch_bytes(), caps.threads), checked_add(tables, bias)));
}

void prepare_pairs(const ConvArgs& args, Math math) {
  const ConvProblem& problem = args.step.problem;
  const TileWeights w = weights_of(args.step, math);
  const Terms terms = terms_of(args.step);
  const bool phases = takes_phases(args.step);
  const int64_t channel_pairs = ceil_div(problem.c, 2);
  const auto weight = [&](int64_t row, int64_t tile, int64_t l, int64_t e) -> float {
    const int64_t segment = tile / terms.tiles.tiles, part = tile % terms.tiles.tiles;
    const int64_t map = phases ? row / 2 : row, pair = terms.tiles.first(part) + l;
    if (map >= problem.k || terms.tiles.is_again(part, l)) return 0;
    int64_t c = 0, r = 0, s = 0;
    if (phases) {
      r = pair % problem.r;
      s = pair / problem.r * 2 + e - row % 2;
    } else {
      c = pair % channel_pairs * 2 + e;
      const int64_t element = segment * (problem.unit_dilation() ? problem.s : 1) + pair / channel_pairs;
      r = element / problem.s;
      s = element % problem.s;
    }
    if (s < 0 || s >= problem.s || c >= problem.c) return 0;
    return args.w[((map * problem.c + c) * problem.r + r) * problem.s + s];
  };
  pack_weights(w, static_cast<std::byte*>(args.prepared), weight);
}

void launch_pairs(const ConvArgs& args, Stream& stream, Math math, Bf16Unit unit) {
  const Launch all(args, math, unit, stream.threads()->size());
  stream.threads()->parallel_for(all.pieces(), 1, [&all](int64_t begin, int64_t end, int thread) {
    for (int64_t piece = begin; piece < end; ++piece) all.compute(piece, thread);
  });
}

}  // namespace convlab
