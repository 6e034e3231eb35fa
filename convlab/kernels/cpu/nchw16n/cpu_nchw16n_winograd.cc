// cpu.nchw16n_winograd: one-dimensional Winograd convolution along the width, of 16 images in the lanes (nchw16n).

#include <algorithm>
#include <array>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw16n/winograd_transforms.h"
#include "convlab/kernels/cpu/simd/lanes.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/cpu/simd/tiles.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"
#include "convlab/tensor/format.h"

namespace convlab::cpu_nchw16n_winograd {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw16n_winograd",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .sum = Sum::transform,
    .rung = 4,
    .idea = "Winograd along the width: 8 products for 9 - S outputs of a filter row",
    .after = "cpu.nchw16n_direct",
    .threads =
        "A work item is a band of output rows of a range of output channels of 16 images; with many images, all rows.",
    .cost =
        "8 / (S * (9 - S)) of the direct multiply-adds (2/5 for 5 columns, 4/7 for 7), and transforms of the input, "
        "shared by all output channels, and of the sums, shared by all input channels. At each of the 8 points the "
        "products are sums over channels and filter rows (see cpu/lanes.h). Filters are transformed once, in double. "
        "The input rows that an output row needs stay transformed in L2 in a ring buffer.",
    .refuses =
        "Layouts other than nchw16n, strides, dilation, fused pooling, few channels, and reductions too long for the "
        "error bound. Transformed along the width alone, the error is that of direct summation; in both directions it "
        "would be three times as large.",
    .limit = "Multiply-adds, and L2 bandwidth for transformed pixels and sums.",
};

constexpr int64_t kLeastChannels = 4, kLeastMaps = 8;
constexpr int64_t kMostSummed = 1024;  // channels times filter rows: K dimension of a sum at one point
constexpr int64_t kTermsAtOnce = 96;   // of these, summed in one pass, so that rounding errors do not accumulate
constexpr int64_t kRunTiles = 9;       // few: what a run reads at a point stays in L1 for all output channels
constexpr int64_t kSpanTiles = 4;      // tiles of output channels whose sums at all points stay in L2

/// Returns the K dimension of a sum at one point.
int64_t terms_of(const ConvProblem& problem) { return problem.channels_per_group() * problem.r; }

/// How a step is partitioned, and the scratch per thread.
struct Cut {
  int64_t outputs = 0, tiles = 0;            ///< outputs per tile; tiles per row
  int64_t blocks = 0, bands = 0;             ///< blocks of 16 images, and bands of output rows of each
  int64_t rows = 0;                          ///< output rows per band
  int64_t row_step = 0, point_step = 0;      ///< floats from row to row, and from point to point, of transformed pixels
  int64_t padded_count = 0, sums_count = 0;  ///< floats: of a row with its padding, of a run's sums

  int64_t scratch_count() const { return padded_count + kWinogradPoints * point_step + sums_count; }
};

Cut cut_of(const ConvStep& step, int threads) {
  const ConvProblem& problem = step.problem;
  Cut cut{.outputs = winograd_outputs(problem.s)};
  cut.tiles = ceil_div(problem.q(), cut.outputs);
  cut.blocks = ceil_div(problem.n, kImageLanes);
  const int64_t for_threads = ceil_div(2 * threads, cut.blocks * problem.groups);
  cut.rows = ceil_div(problem.p(), std::clamp<int64_t>(for_threads, 1, problem.p()));
  cut.bands = ceil_div(problem.p(), cut.rows);
  // An odd number of cache lines: with a power of two, the rows of a sum would map to the same few sets of L1.
  cut.row_step = (cut.tiles | 1) * kImageLanes;
  cut.point_step = checked_product({problem.channels_per_group(), problem.r, cut.row_step});
  cut.padded_count = ((cut.tiles - 1) * cut.outputs + kWinogradPoints) * kImageLanes;
  cut.sums_count = kWinogradPoints * kSpanTiles * most_lane_maps(false) * kRunTiles * kImageLanes;
  return cut;
}

/// Offset of tile j of a run from the first, in floats.
constexpr auto kTileAt = [] {
  std::array<int64_t, kRunTiles> at{};
  for (int64_t j = 0; j < kRunTiles; ++j) at[static_cast<size_t>(j)] = j * kImageLanes;
  return at;
}();

/// A run of neighboring tiles of an output row, for some output channels of a group.
struct Run {
  int64_t block, row;   ///< of the image
  int64_t tile, count;  ///< of the row
  int64_t first_map;    ///< of the group
  int64_t from, to;     ///< tiles of output channels
};

/// One launch: the table that all work items share, and the work items.
class Launch {
 public:
  Launch(const ConvArgs& args, int threads)
      : args_(args),
        problem_(args.step.problem),
        cut_(cut_of(args.step, threads)),
        map_tiles_(problem_, most_lane_maps(false)),
        terms_(terms_of(problem_)) {
    scratch_ = static_cast<float*>(args.workspace);
    offsets_ = reinterpret_cast<uint32_t*>(scratch_ + threads * cut_.scratch_count());
    uint32_t* offset = offsets_;
    for (int64_t row = 0; row < problem_.r; ++row) {
      for (int64_t c = 0; c < problem_.channels_per_group(); ++c) {
        for (int64_t r = 0; r < problem_.r; ++r) *offset++ = static_cast<uint32_t>(offset_of(c, row + r));
      }
    }
  }

  int64_t pieces() const { return cut_.blocks * problem_.groups * cut_.bands; }

  void compute(int64_t piece, int thread) const {
    const int64_t band = piece % cut_.bands, group = piece / cut_.bands % problem_.groups;
    const int64_t block = piece / cut_.bands / problem_.groups;
    const int64_t first = band * cut_.rows, rows = std::min(cut_.rows, problem_.p() - first);
    float* const padded = scratch_ + thread * cut_.scratch_count();
    float* const points = padded + cut_.padded_count;
    float* const sums = points + kWinogradPoints * cut_.point_step;
    const int64_t first_map = group * problem_.maps_per_group();
    // A new input row overwrites the one that is no longer needed.
    const auto transform = [&](int64_t h) {
      for (int64_t c = 0; c < problem_.channels_per_group(); ++c) {
        transform_row(input(block, group * problem_.channels_per_group() + c, h - problem_.pad_top), padded,
                      points + offset_of(c, h));
      }
    };
    for (int64_t h = first; h < first + problem_.r - 1; ++h) transform(h);
    for (int64_t row = first; row < first + rows; ++row) {
      transform(row + problem_.r - 1);
      for (int64_t tile = 0; tile < cut_.tiles; tile += kRunTiles) {
        for (int64_t from = 0; from < map_tiles_.count; from += kSpanTiles) {
          const Run run{.block = block,
                        .row = row,
                        .tile = tile,
                        .count = std::min(kRunTiles, cut_.tiles - tile),
                        .first_map = first_map,
                        .from = from,
                        .to = std::min(from + kSpanTiles, map_tiles_.count)};
          sum_run(run, points, sums);
          write_run(run, sums);
        }
      }
    }
  }

 private:
  /// Offset of a channel's transformed input row `h`, counted with the padding, at a point. Rows form a ring buffer.
  int64_t offset_of(int64_t channel, int64_t h) const {
    return (channel * problem_.r + h % problem_.r) * cut_.row_step;
  }

  /// Returns a row of 16 images, or null if it is padding.
  const float* input(int64_t block, int64_t channel, int64_t h) const {
    if (h < 0 || h >= problem_.h) return nullptr;
    return static_cast<const float*>(args_.x) +
           ((block * problem_.c + channel) * problem_.h + h) * problem_.w * kImageLanes;
  }

  /// Returns the address of an output pixel of 16 images.
  float* output(int64_t block, int64_t k, int64_t row, int64_t column) const {
    return args_.y + (((block * problem_.k + k) * problem_.p() + row) * problem_.q() + column) * kImageLanes;
  }

  /// Transforms all tiles of a row, at all points. `padded` is scratch.
  void transform_row(const float* row, float* padded, float* to) const {
    if (row == nullptr) {
      for (int64_t i = 0; i < kWinogradPoints; ++i) {
        std::fill_n(to + i * cut_.point_step, cut_.tiles * kImageLanes, 0.0f);
      }
      return;
    }
    const int64_t left = problem_.pad_left, room = problem_.w + left - kWinogradPoints;
    const int64_t end = room < 0 ? 0 : std::min(room / cut_.outputs + 1, cut_.tiles);  // of the tiles within the image
    const int64_t begin = std::min(ceil_div(left, cut_.outputs), end);
    winograd_input(row + (begin * cut_.outputs - left) * kImageLanes, end - begin, cut_.outputs,
                   to + begin * kImageLanes, cut_.point_step);
    transform_with_padding(row, 0, begin, padded, to);
    transform_with_padding(row, end, cut_.tiles, padded, to);
  }

  /// Transforms tiles [begin, end) of a row. Some of them extend beyond it.
  void transform_with_padding(const float* row, int64_t begin, int64_t end, float* padded, float* to) const {
    if (begin == end) return;
    const int64_t first = begin * cut_.outputs - problem_.pad_left;  // pixel of the row
    const int64_t pixels = (end - begin - 1) * cut_.outputs + kWinogradPoints;
    const int64_t before = std::clamp<int64_t>(-first, 0, pixels);
    const int64_t inside = std::clamp<int64_t>(problem_.w - first, before, pixels) - before;
    std::fill_n(padded, before * kImageLanes, 0.0f);
    std::copy_n(row + (first + before) * kImageLanes, inside * kImageLanes, padded + before * kImageLanes);
    std::fill_n(padded + (before + inside) * kImageLanes, (pixels - before - inside) * kImageLanes, 0.0f);
    winograd_input(padded, end - begin, cut_.outputs, to + begin * kImageLanes, cut_.point_step);
  }

  /// Computes sums[point][output channel][tile].
  void sum_run(const Run& run, const float* points, float* sums) const {
    const int64_t map_step = run.count * kImageLanes, point_step = maps_of(run) * map_step;
    const float* const w = static_cast<const float*>(args_.prepared) + run.first_map * terms_ * kWinogradPoints;
    const uint32_t* const offsets = offsets_ + run.row % problem_.r * terms_;
    for (int64_t point = 0; point < kWinogradPoints; ++point) {
      for (int64_t term = 0; term < terms_; term += kTermsAtOnce) {
        for (int64_t tile = run.from; tile < run.to; ++tile) {
          const int64_t map = map_tiles_.first(tile), maps = map_tiles_.first(tile + 1) - map;
          sum_lanes({.x = points + point * cut_.point_step + run.tile * kImageLanes,
                     .x_at = kTileAt.data(),
                     .pixels = run.count,
                     .offsets = offsets + term,
                     .terms = std::min(kTermsAtOnce, terms_ - term),
                     .w = w + map * terms_ * kWinogradPoints + (point * terms_ + term) * maps,
                     .maps = static_cast<int>(maps),
                     .y = sums + point * point_step + (map - map_tiles_.first(run.from)) * map_step,
                     .map_step = map_step,
                     .pixel_step = kImageLanes,
                     .add = term > 0});
        }
      }
    }
  }

  /// Computes the outputs from the sums.
  void write_run(const Run& run, const float* sums) const {
    const Epilogue& epilogue = args_.step.epilogue;
    const int64_t maps = maps_of(run), map_step = run.count * kImageLanes;
    const int64_t column = run.tile * cut_.outputs, pixels = std::min(run.count * cut_.outputs, problem_.q() - column);
    for (int64_t m = 0; m < maps; ++m) {
      const int64_t k = run.first_map + map_tiles_.first(run.from) + m;
      float* const y = output(run.block, k, run.row, column);
      winograd_output({.from = sums + m * map_step,
                       .point_step = maps * map_step,
                       .pixels = pixels,
                       .bias = epilogue.bias ? args_.bias[k] : 0,
                       .y = y},
                      cut_.outputs);
      activate(epilogue.activation, y, pixels * kImageLanes);
    }
  }

  int64_t maps_of(const Run& run) const { return map_tiles_.first(run.to) - map_tiles_.first(run.from); }

  const ConvArgs& args_;
  const ConvProblem& problem_;
  Cut cut_;
  MapTiles map_tiles_;
  int64_t terms_;
  float* scratch_;     ///< per thread
  uint32_t* offsets_;  ///< per K index, for each position in the ring buffer where an output row may begin
};

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (step.input_format != kNchw16n || step.output_format != kNchw16n) {
    return "input and output must be nchw16n";
  }
  if (step.epilogue.pool) return "fused pooling is not supported";
  if (!problem.unit_stride() || !problem.unit_dilation()) return "strides and dilation are not supported";
  if (problem.s < 3 || problem.s > 7) return fmt::format("filter width must be between 3 and 7, got {}", problem.s);
  if (problem.channels_per_group() < kLeastChannels || problem.maps_per_group() < kLeastMaps) {
    return fmt::format(
        "at least {} input and {} output channels per group are needed: with fewer, the transforms cost more than they "
        "save",
        kLeastChannels, kLeastMaps);
  }
  if (terms_of(problem) > kMostSummed) {
    return fmt::format("channels * filter height must be at most {}, got {}: the error grows with it", kMostSummed,
                       terms_of(problem));
  }
  if (cut_of(step, caps.threads).point_step > UINT32_MAX) return "rows must have fewer than 2^32 elements";
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  const ConvProblem& problem = step.problem;
  return static_cast<size_t>(
      checked_product({problem.k, problem.channels_per_group(), problem.r, kWinogradPoints, sizeof(float)}));
}

/// Packs transformed filters per tile of output channels: [point][channel][filter row][output channel of the tile].
void prepare(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  const int64_t terms = terms_of(problem);
  for (int64_t group = 0; group < problem.groups; ++group) {
    for_each_map_tile(problem, most_lane_maps(false), [&](int64_t map, int64_t maps) {
      const int64_t first = group * problem.maps_per_group() + map;
      float* const to = static_cast<float*>(args.prepared) + first * terms * kWinogradPoints;
      for (int64_t m = 0; m < maps; ++m) {
        for (int64_t term = 0; term < terms; ++term) {
          const auto points = winograd_filter(args.w + ((first + m) * terms + term) * problem.s, problem.s);
          for (int64_t i = 0; i < kWinogradPoints; ++i) {
            to[(i * terms + term) * maps + m] = static_cast<float>(points[static_cast<size_t>(i)]);
          }
        }
      }
    });
  }
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  const int64_t scratch = checked_product({cut_of(step, caps.threads).scratch_count(), caps.threads, sizeof(float)});
  const int64_t offsets = step.problem.r * terms_of(step.problem) * static_cast<int64_t>(sizeof(uint32_t));
  return static_cast<size_t>(checked_add(scratch, offsets));
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_pieces<Launch, ConvArgs>>,
    .format = kNchw16n,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab::cpu_nchw16n_winograd
