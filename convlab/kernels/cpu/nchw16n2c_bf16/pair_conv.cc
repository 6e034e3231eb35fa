// Convolution of 16 images in the lanes, with neighboring channels as bf16x2 pairs (`nchw16n2c`): see bf16_jobs.h.
//
// Threads: a work item is a band of output rows of 16 images. Unpadded nchw16n2c input is loaded in place; nchw input,
// and padded input, is first copied as pairs, with its zero border, to the thread's scratch. The pairs of a filter row
// are contiguous in memory: 5 pixels x 12 channels are 30 pairs, two tiles of 15.
//
// Phases: uint8 pixels of one channel are paired with their right neighbors, so that no operand is half empty. A tile's
// rows are then output channels x 2 phases (the output at the pair's first pixel, and the next one), and its K
// dimension is [pair of columns][row] of the filter: 3 x 5 = 15 for 5 x 5. The input rows under one output row are
// copied to a contiguous "window", [pair of columns][row]. For the next output row, only new rows are copied, over the
// rows that are no longer read. So the window's rows are a rotation of the filter's, and there is a packed copy of the
// filters for each rotation. A weight is 0 if only one phase reads a pixel of a pair; this is safe because uint8 pixels
// are never NaN.

#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_conv.h"

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/bf16_sums.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_cut.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_filters.h"
#include "convlab/kernels/cpu/nchw16n2c_bf16/pair_rows.h"
#include "convlab/kernels/cpu/simd/lane_order.h"
#include "convlab/kernels/cpu/simd/pieces.h"

namespace convlab {
namespace {

/// One launch: the tables that all work items share, and the work items.
class Launch {
 public:
  Launch(const ConvArgs& args, Math math, Bf16Unit unit, int threads)
      : args_(args),
        step_(args.step),
        problem_(args.step.problem),
        unit_(unit),
        cut_(pair_cut(step_, math, threads)),
        w_(filter_tiles(step_, math)),
        finite_(gives_finite_sums(args)) {
    w_.data = static_cast<const std::byte*>(args.prepared);
    scratch_ = static_cast<std::byte*>(args.workspace);
    x_at_ = reinterpret_cast<int64_t*>(scratch_ + cut_.scratch_bytes() * threads);
    offsets_ = x_at_ + cut_.places;
    auto* const bias = reinterpret_cast<float*>(offsets_ + w_.term_tiles);
    quiet_bias(step_.epilogue.bias ? args.bias : nullptr, problem_.k, bias);
    const FilterTerms terms = filter_terms(step_);
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
    const std::byte* x = scratch;
    if (cut_.copies) {
      std::byte* const lanes = scratch + cut_.pixels_bytes + cut_.window_bytes;
      const int64_t top = first * cut_.step_h - problem_.pad_top, count = cut_.rows_below(problem_, rows);
      for (int64_t row = 0; row < count; ++row) {
        copy_pair_row(args_, cut_, block, top + row, scratch + row * cut_.held_row(), lanes);
      }
    } else {
      x = static_cast<const std::byte*>(args_.x) + block * cut_.held_plane() * (cut_.split ? 2 : 1) +
          first * cut_.step_h * cut_.held_row();
    }
    if (cut_.phases) {
      std::byte* const windows = scratch + cut_.pixels_bytes;
      for (int64_t row = 0; row < rows; ++row) {
        fill_windows(x, row, windows);
        compute_run(block, windows, row * cut_.step_h % problem_.r, 0, (first + row) * cut_.grid_w, cut_.grid_w,
                    scratch);
      }
      return;
    }
    for (int64_t run = 0; run < rows * cut_.grid_w; run += cut_.run) {
      compute_run(block, x, 0, run, first * cut_.grid_w + run, std::min(cut_.run, rows * cut_.grid_w - run), scratch);
    }
  }

 private:
  /// Byte offset of a filter segment from its position.
  int64_t segment_at(int64_t segment) const {
    if (cut_.phases) return 0;
    if (problem_.unit_dilation()) return segment * cut_.held_row();
    return segment / problem_.s * problem_.dilation_h * cut_.held_row() +
           segment % problem_.s * problem_.dilation_w * cut_.pixel_bytes();
  }

  /// Byte offset of a position of a band.
  int64_t place_at(int64_t place) const {
    if (cut_.phases) {
      return place % cut_.window * cut_.window_side() + place / cut_.window * problem_.r * kPairBytes;
    }
    const int64_t squares = cut_.window * cut_.window, output = place / squares, corner = place % squares;
    const int64_t row = output / cut_.grid_w * cut_.window + corner / cut_.window;
    const int64_t column = output % cut_.grid_w * cut_.window + corner % cut_.window;
    return row * problem_.stride_h * cut_.held_row() + column * problem_.stride_w * cut_.pixel_bytes();
  }

  /// Advances the windows to row `row` of a band's output, from the band's pixels `x` and the previous row's windows.
  void fill_windows(const std::byte* x, int64_t row, std::byte* windows) const {
    const int64_t r = problem_.r, top = row * cut_.step_h, kept = row > 0 ? std::max<int64_t>(r - cut_.step_h, 0) : 0;
    for (int64_t side = 0; side < cut_.window; ++side) {
      for (int64_t i = kept; i < r; ++i) {
        const auto* const from =
            reinterpret_cast<const uint8_t*>(x + (top + side * problem_.stride_h + i) * cut_.held_row());
        pack_pairs(from, from + kImageLanes, cut_.held_w, 2 * kImageLanes,
                   windows + side * cut_.window_side() + (top + i) % r * kPairBytes, r * kPairBytes);
      }
    }
  }

  /// Computes `count` outputs starting at `output`, at the band's positions of output `run` and on, with rotated
  /// filters.
  void compute_run(int64_t block, const std::byte* x, int64_t rotation, int64_t run, int64_t output, int64_t count,
                   std::byte* scratch) const {
    const int64_t squares = cut_.window * cut_.window, plane = cut_.grid_h * cut_.grid_w;
    PairConvolution job{.w = w_,
                        .x = x,
                        .low_at = cut_.split ? cut_.held_plane() : 0,
                        .offsets = offsets_,
                        .x_at = cut_.phases ? x_at_ : x_at_ + run * squares,
                        .places = cut_.phases ? cut_.places : count * squares,
                        .phases = cut_.phases,
                        .pooled = cut_.pooled,
                        .finite = finite_,
                        .outputs = count,
                        .end = end_};
    job.w.data += rotation * w_.bytes();
    if (!cut_.to_plain) {
      const int64_t parts = end_.low_at != 0 ? 2 : 1;
      job.end.pairs = reinterpret_cast<std::byte*>(args_.y) + (block * plane * parts + output) * end_.pairs_step;
      convolve_pairs(unit_, job);
      return;
    }
    auto* const sums = reinterpret_cast<float*>(scratch + cut_.scratch_bytes() - cut_.sums_bytes);
    job.end.floats = sums;
    convolve_pairs(unit_, job);
    for (int64_t map = 0; map < problem_.k; ++map) {
      from_lanes(sums + map * end_.map_step, count, args_.y + (block * kImageLanes * problem_.k + map) * plane + output,
                 problem_.k * plane, problem_.n - block * kImageLanes);
    }
  }

  const ConvArgs& args_;
  const ConvStep& step_;
  const ConvProblem& problem_;
  Bf16Unit unit_;
  PairCut cut_;
  TileWeights w_;
  PairsEnd end_;
  bool finite_;
  std::byte* scratch_;  ///< per thread
  int64_t *x_at_, *offsets_;
};

}  // namespace

Refusal refuse_pairs(const ConvStep& step, Bf16Unit unit) {
  if (Refusal refusal = refuse_without(unit)) return refusal;
  if (step.problem.groups != 1) return fmt::format("groups must be 1, got {}", step.problem.groups);
  if (step.epilogue.pool && !step.epilogue.pool->is_max_2x2()) {
    return "fused pooling other than 2x2 max is not supported";
  }
  return std::nullopt;
}

size_t pairs_prepared_bytes(const ConvStep& step, Math math) {
  return static_cast<size_t>(checked_mul(filter_tiles(step, math).bytes(), filter_rotations(step)));
}

size_t pairs_workspace_bytes(const ConvStep& step, const DeviceCaps& caps, Math math) {
  const PairCut cut = pair_cut(step, math, caps.threads);
  const int64_t tables = checked_mul(checked_add(cut.places, filter_tiles(step, math).term_tiles), sizeof(int64_t));
  const int64_t bias = checked_mul(step.problem.k, sizeof(float));
  return static_cast<size_t>(checked_add(checked_mul(cut.scratch_bytes(), caps.threads), checked_add(tables, bias)));
}

void launch_pairs(const ConvArgs& args, Stream& stream, Math math, Bf16Unit unit) {
  compute_pieces(Launch(args, math, unit, stream.threads()->size()), stream);
}

}  // namespace convlab
