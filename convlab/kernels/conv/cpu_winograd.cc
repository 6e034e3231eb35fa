// cpu.winograd: Winograd's minimal filtering along the width, 16 images side by side.
// Threads: a piece of work is a band of output rows of one group of maps of 16 images.
// Per output: 8 / (s * (9 - s)) of the direct multiply-adds, that is 2/5 for 5 columns and 4/7 for 7, and transforms:
// of
//   the input, shared by all maps, and of the sums, shared by all channels. For each of the 8 points the products are
//   sums over channels and filter rows in the sense of cpu_lanes.h. Filters are transformed once, in double.
// Refuses what is not in lanes, strides and dilation, pooling, fewer channels or maps than pay, and more terms than its
//   error allows: along the width alone it is that of a direct sum, in both directions it would be three times that.
// Limited by multiply-adds, and by the second cache, through which the transformed band goes.

#include <algorithm>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu_epilogue.h"
#include "convlab/kernels/cpu_lanes.h"
#include "convlab/kernels/cpu_pieces.h"
#include "convlab/kernels/cpu_tiles.h"
#include "convlab/kernels/cpu_winograd.h"
#include "convlab/kernels/registry.h"
#include "convlab/tensor/layout.h"

namespace convlab {
namespace {

constexpr int64_t kLeastChannels = 4, kLeastMaps = 8;
constexpr int64_t kMostSummed = 1024;               // channels times filter rows: terms of a sum at one point
constexpr int64_t kTermsAtOnce = 64;                // of these, summed in one go, so that errors do not pile up
constexpr int64_t kBandCount = int64_t{256} << 10;  // floats that a band's transformed pixels should take: 1 MiB
constexpr int64_t kRunTiles = 24;  // tiles of 8 maps that are summed at all points before they are transformed back

/// How a step is cut, and what scratch each thread needs for it.
struct Cut {
  int64_t outputs = 0, tiles = 0;                         ///< of a tile; of a row
  int64_t blocks = 0, bands = 0;                          ///< of 16 images, and of rows of each
  int64_t rows = 0, held_rows = 0;                        ///< of a band: of outputs, and of inputs
  int64_t row_count = 0, point_step = 0, sums_count = 0;  ///< floats: of a row, of a point's pixels, of a run's sums

  int64_t scratch_count() const { return row_count + kWinogradPoints * point_step + sums_count; }
};

Cut cut_of(const ConvStep& step, int threads) {
  const ConvProblem& problem = step.problem;
  Cut cut{.outputs = winograd_outputs(problem.s)};
  cut.tiles = ceil_div(problem.q(), cut.outputs);
  cut.blocks = ceil_div(problem.n, kImageLanes);
  const int64_t row_of_points = checked_product({problem.channels_per_group(), cut.tiles, kImageLanes});
  const int64_t fitting = kBandCount / (kWinogradPoints * row_of_points) - (problem.r - 1);
  const int64_t for_cache = ceil_div(problem.p(), std::max<int64_t>(fitting, 1));
  const int64_t for_threads = ceil_div(2 * threads, cut.blocks * problem.groups);
  cut.rows = ceil_div(problem.p(), std::clamp<int64_t>(std::max(for_cache, for_threads), 1, problem.p()));
  cut.bands = ceil_div(problem.p(), cut.rows);
  cut.held_rows = cut.rows + problem.r - 1;
  cut.row_count = ((cut.tiles - 1) * cut.outputs + kWinogradPoints) * kImageLanes;
  cut.point_step = checked_mul(row_of_points, cut.held_rows);
  cut.sums_count = kWinogradPoints * most_lane_maps(false) * kRunTiles * kImageLanes;
  return cut;
}

/// One launch: the tables that all pieces share, and the pieces.
class Launch {
 public:
  Launch(const ConvArgs& args, int threads)
      : args_(args), problem_(args.step.problem), cut_(cut_of(args.step, threads)) {
    scratch_ = static_cast<float*>(args.workspace);
    x_at_ = reinterpret_cast<int64_t*>(scratch_ + threads * cut_.scratch_count());
    offsets_ = reinterpret_cast<uint32_t*>(x_at_ + kRunTiles);
    for (int64_t j = 0; j < kRunTiles; ++j) x_at_[j] = j * kImageLanes;
    uint32_t* offset = offsets_;
    for (int64_t c = 0; c < problem_.channels_per_group(); ++c) {
      for (int64_t r = 0; r < problem_.r; ++r) {
        *offset++ = static_cast<uint32_t>((c * cut_.held_rows + r) * cut_.tiles * kImageLanes);
      }
    }
  }

  int64_t pieces() const { return cut_.blocks * problem_.groups * cut_.bands; }

  void compute(int64_t piece, int thread) const {
    const int64_t band = piece % cut_.bands, group = piece / cut_.bands % problem_.groups;
    const int64_t block = piece / cut_.bands / problem_.groups;
    const int64_t first = band * cut_.rows, rows = std::min(cut_.rows, problem_.p() - first);
    float* const row = scratch_ + thread * cut_.scratch_count();
    float* const points = row + cut_.row_count;
    float* const sums = points + kWinogradPoints * cut_.point_step;
    const int64_t channels = problem_.channels_per_group();
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t h = 0; h < rows + problem_.r - 1; ++h) {
        fetch_row(block, group * channels + c, first + h - problem_.pad_top, row);
        winograd_input(row, cut_.tiles, cut_.outputs, points + (c * cut_.held_rows + h) * cut_.tiles * kImageLanes,
                       cut_.point_step);
      }
    }
    for (int64_t run = 0; run < rows * cut_.tiles; run += kRunTiles) {
      const int64_t count = std::min(kRunTiles, rows * cut_.tiles - run);
      for_each_map_tile(problem_, most_lane_maps(false), [&](int64_t map, int64_t maps) {
        compute_run(block, group * problem_.maps_per_group() + map, maps, points, first * cut_.tiles + run, run, count,
                    sums);
      });
    }
    for (int64_t k = group * problem_.maps_per_group(); k < (group + 1) * problem_.maps_per_group(); ++k) {
      const float bias = args_.step.epilogue.bias ? args_.bias[k] : 0;
      add_bias_and_activate(args_.step.epilogue, bias, output(block, k, first), rows * problem_.q() * kImageLanes);
    }
  }

 private:
  float* output(int64_t block, int64_t k, int64_t p) const {
    return args_.y + ((block * problem_.k + k) * problem_.p() + p) * problem_.q() * kImageLanes;
  }

  /// A row of a channel with zeros around it, as long as its tiles reach.
  void fetch_row(int64_t block, int64_t channel, int64_t h, float* to) const {
    const int64_t left = problem_.pad_left * kImageLanes;
    if (h < 0 || h >= problem_.h) {
      std::fill_n(to, cut_.row_count, 0.0f);
      return;
    }
    const int64_t count = std::min(problem_.w * kImageLanes, cut_.row_count - left);
    const float* from = static_cast<const float*>(args_.x) +
                        ((block * problem_.c + channel) * problem_.h + h) * problem_.w * kImageLanes;
    std::fill_n(to, left, 0.0f);
    std::copy_n(from, count, to + left);
    std::fill(to + left + count, to + cut_.row_count, 0.0f);
  }

  /// Some maps at `count` neighbouring tiles, the first of which is tile `run` of the band and `tile` of the image.
  void compute_run(int64_t block, int64_t map, int64_t maps, const float* points, int64_t tile, int64_t run,
                   int64_t count, float* sums) const {
    const int64_t terms = problem_.channels_per_group() * problem_.r;
    const int64_t map_step = count * kImageLanes, point_step = maps * map_step;
    const float* w = static_cast<const float*>(args_.prepared) + map * terms * kWinogradPoints;
    for (int64_t point = 0; point < kWinogradPoints; ++point) {
      for (int64_t term = 0; term < terms; term += kTermsAtOnce) {
        sum_lanes({.x = points + point * cut_.point_step + run * kImageLanes,
                   .x_at = x_at_,
                   .pixels = count,
                   .offsets = offsets_ + term,
                   .terms = std::min(kTermsAtOnce, terms - term),
                   .w = w + (point * terms + term) * maps,
                   .maps = static_cast<int>(maps),
                   .y = sums + point * point_step,
                   .map_step = map_step,
                   .pixel_step = kImageLanes,
                   .add = term > 0});
      }
    }
    for (int64_t m = 0; m < maps; ++m) {
      winograd_output({.from = sums + m * map_step,
                       .point_step = point_step,
                       .first = tile,
                       .count = count,
                       .tiles = cut_.tiles,
                       .width = problem_.q(),
                       .y = output(block, map + m, 0)},
                      cut_.outputs);
    }
  }

  const ConvArgs& args_;
  const ConvProblem& problem_;
  Cut cut_;
  float* scratch_;     ///< by thread
  int64_t* x_at_;      ///< by tile of a run
  uint32_t* offsets_;  ///< by term
};

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (step.input_layout != Layout::image_lanes || step.output_layout != Layout::image_lanes) {
    return "takes and gives images in lanes";
  }
  if (step.epilogue.pool) return "pools nothing";
  if (!problem.unit_stride() || !problem.unit_dilation()) return "takes no strides or dilation";
  if (problem.s < 3 || problem.s > 7) return fmt::format("takes filters of 3 to 7 columns, not {}", problem.s);
  if (problem.channels_per_group() < kLeastChannels || problem.maps_per_group() < kLeastMaps) {
    return fmt::format("takes {} channels and {} maps a group or more: with fewer, transforms cost what they save",
                       kLeastChannels, kLeastMaps);
  }
  if (problem.channels_per_group() * problem.r > kMostSummed) {
    return fmt::format("takes {} channels times filter rows, not {}: its error grows with them", kMostSummed,
                       problem.channels_per_group() * problem.r);
  }
  if (cut_of(step, caps.threads).point_step > UINT32_MAX) return "takes rows of less than 2^32 elements";
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step) {
  const ConvProblem& problem = step.problem;
  return static_cast<size_t>(
      checked_product({problem.k, problem.channels_per_group(), problem.r, kWinogradPoints, sizeof(float)}));
}

/// Transformed filters by tile of maps: [point][channel][row of the filter][map of the tile].
void prepare(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  const int64_t terms = problem.channels_per_group() * problem.r;
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
  const int64_t terms = step.problem.channels_per_group() * step.problem.r;
  return static_cast<size_t>(checked_add(scratch, kRunTiles * 8 + terms * 4));
}

const RegisterConvKernel registered{{
    .info = {.name = "cpu.winograd",
             .device = DeviceKind::cpu,
             .math = Math::fp32,
             .repeat = Repeat::bitwise,
             .sum = Sum::transform,
             .rung = 4,
             .idea = "fewer products: eight for 9 - s outputs of a filter row of s",
             .after = "cpu.image_lanes"},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = launch_pieces<Launch>,
    .layout = Layout::image_lanes,
}};

}  // namespace
}  // namespace convlab
