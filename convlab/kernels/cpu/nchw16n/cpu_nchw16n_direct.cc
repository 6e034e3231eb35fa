// cpu.nchw16n_direct: direct convolution of 16 images at once, one per lane (nchw16n). Sums are in the order of
// cpu.direct, so that both give the same bits.

#include <algorithm>
#include <array>

#include "convlab/base/checked.h"
#include "convlab/kernels/cpu/nchw16n/lane_rows.h"
#include "convlab/kernels/cpu/simd/lane_order.h"
#include "convlab/kernels/cpu/simd/lanes.h"
#include "convlab/kernels/cpu/simd/pieces.h"
#include "convlab/kernels/cpu/simd/tiles.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw16n_direct {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw16n_direct",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 3,
    .idea = "the same pixel of 16 images in one vector: no idle lanes, and all loads aligned",
    .after = "cpu.direct",
    .threads = "A work item is a band of output rows of a range of output channels of 16 images.",
    .cost =
        "C * R * S fused multiply-adds, each 1 / lanes of a vector instruction. Nchw inputs are transposed first, and "
        "padded ones copied with their border; cpu/lanes.h describes the arithmetic and the layout.",
    .refuses = "Fused pooling other than 2x2 max, or with filters of more than 768 elements.",
    .limit =
        "Multiply-adds: 24 for 11 loads in the largest tile. A batch size that is not a multiple of 16 takes as long "
        "as the next multiple.",
};

constexpr int64_t kCopiedCount = int64_t{128} << 10;  // target size of a band's copied pixels: 512 KiB
constexpr int64_t kRunPixels = 36;  // pixels computed for all output channels before the next ones, to stay in cache

/// How a step is partitioned, and the scratch per thread.
struct Cut {
  bool pooled = false, copies = false;
  int64_t window = 1;                        ///< side of the pooling window
  int64_t grid_h = 0, grid_w = 0;            ///< rows and columns of the output
  int64_t step_h = 1, step_w = 1;            ///< input rows and columns between neighboring outputs
  int64_t blocks = 0, bands = 0;             ///< blocks of 16 images, and bands of rows of each
  int64_t rows = 0;                          ///< output rows per band
  int64_t held_h = 0, held_w = 0;            ///< rows and columns of a channel as the sums read it
  int64_t pixels_count = 0, sums_count = 0;  ///< floats of scratch per thread

  int64_t scratch_count() const { return pixels_count + sums_count; }
};

/// Returns the input rows that `rows` output rows read.
int64_t rows_below(const ConvProblem& problem, const Cut& cut, int64_t rows) {
  return (rows * cut.window - 1) * problem.stride_h + (problem.r - 1) * problem.dilation_h + 1;
}

Cut cut_of(const ConvStep& step, int threads) {
  const ConvProblem& problem = step.problem;
  Cut cut;
  cut.pooled = step.epilogue.pool.has_value();
  cut.window = cut.pooled ? 2 : 1;
  cut.copies = step.input_format.order == Order::nchw || problem.padded();
  cut.grid_h = problem.p() / cut.window;
  cut.grid_w = problem.q() / cut.window;
  cut.step_h = cut.window * problem.stride_h;
  cut.step_w = cut.window * problem.stride_w;
  cut.blocks = ceil_div(problem.n, kImageLanes);
  cut.held_w = problem.pad_left + problem.w + problem.pad_right;

  // As many rows as fit in the cache, but enough bands to keep all threads busy.
  const int64_t row_count = checked_product({problem.channels_per_group(), cut.held_w, kImageLanes});
  const int64_t fitting = (kCopiedCount / row_count - rows_below(problem, cut, 1)) / cut.step_h + 1;
  const int64_t for_cache = cut.copies ? ceil_div(cut.grid_h, std::max<int64_t>(fitting, 1)) : 1;
  const int64_t for_threads = ceil_div(2 * threads, cut.blocks * problem.groups);
  cut.rows = ceil_div(cut.grid_h, std::clamp<int64_t>(std::max(for_cache, for_threads), 1, cut.grid_h));
  cut.bands = ceil_div(cut.grid_h, cut.rows);
  cut.held_h = cut.copies ? rows_below(problem, cut, cut.rows) : problem.h;
  if (cut.copies) cut.pixels_count = checked_mul(row_count, cut.held_h);
  if (step.output_format.order == Order::nchw) cut.sums_count = most_lane_maps(cut.pooled) * kRunPixels * kImageLanes;
  return cut;
}

/// One launch: the tables that all work items share, and the work items.
class Launch {
 public:
  Launch(const ConvArgs& args, int threads)
      : args_(args), step_(args.step), problem_(args.step.problem), cut_(cut_of(step_, threads)) {
    auto* memory = static_cast<unsigned char*>(args.workspace);
    scratch_ = reinterpret_cast<float*>(memory);
    memory += checked_product({cut_.scratch_count(), threads, sizeof(float)});
    x_at_ = reinterpret_cast<int64_t*>(memory);
    offsets_ = reinterpret_cast<uint32_t*>(memory + cut_.rows * cut_.grid_w * static_cast<int64_t>(sizeof(int64_t)));
    const int64_t row = cut_.held_w * kImageLanes, plane = cut_.held_h * row;
    for (int64_t j = 0; j < cut_.rows * cut_.grid_w; ++j) {
      x_at_[j] = j / cut_.grid_w * cut_.step_h * row + j % cut_.grid_w * cut_.step_w * kImageLanes;
    }
    uint32_t* offset = offsets_;
    for (int64_t c = 0; c < problem_.channels_per_group(); ++c) {
      for (int64_t s = 0; s < problem_.s; ++s) {
        for (int64_t r = 0; r < problem_.r; ++r) {
          *offset++ =
              static_cast<uint32_t>(c * plane + r * problem_.dilation_h * row + s * problem_.dilation_w * kImageLanes);
        }
      }
    }
    for (int64_t i = 0; i < kPoolWindow; ++i) {
      window_[static_cast<size_t>(i)] = i / 2 * problem_.stride_h * row + i % 2 * problem_.stride_w * kImageLanes;
    }
  }

  int64_t pieces() const { return cut_.blocks * problem_.groups * cut_.bands; }

  void compute(int64_t piece, int thread) const {
    const int64_t band = piece % cut_.bands, group = piece / cut_.bands % problem_.groups;
    const int64_t block = piece / cut_.bands / problem_.groups;
    const int64_t first = band * cut_.rows, rows = std::min(cut_.rows, cut_.grid_h - first);
    const int64_t channel = group * problem_.channels_per_group();
    float* const scratch = scratch_ + thread * cut_.scratch_count();
    const float* x = scratch;
    if (cut_.copies) {
      for (int64_t c = 0; c < problem_.channels_per_group(); ++c) {
        copy_channel(block, channel + c, first * cut_.step_h - problem_.pad_top, rows_below(problem_, cut_, rows),
                     scratch + c * cut_.held_h * cut_.held_w * kImageLanes);
      }
    } else {
      x = static_cast<const float*>(args_.x) +
          ((block * problem_.c + channel) * problem_.h + first * cut_.step_h) * problem_.w * kImageLanes;
    }
    const int64_t pixels = rows * cut_.grid_w;
    for (int64_t run = 0; run < pixels; run += kRunPixels) {
      const int64_t count = std::min(kRunPixels, pixels - run);
      for_each_map_tile(problem_, most_lane_maps(cut_.pooled), [&](int64_t map, int64_t maps) {
        compute_run(block, group * problem_.maps_per_group() + map, maps, x, x_at_ + run, first * cut_.grid_w + run,
                    count, scratch + cut_.pixels_count);
      });
    }
  }

 private:
  /// Copies rows [first, first + rows) of a channel of 16 images as pixels, including the zero padding.
  void copy_channel(int64_t block, int64_t channel, int64_t first, int64_t rows, float* to) const {
    for (int64_t row = first; row < first + rows; ++row, to += cut_.held_w * kImageLanes) {
      if (row < 0 || row >= problem_.h) {
        std::fill_n(to, cut_.held_w * kImageLanes, 0.0f);
        continue;
      }
      float* const inside = to + problem_.pad_left * kImageLanes;
      std::fill(to, inside, 0.0f);
      copy_lane_row(step_, args_.x, block, channel * problem_.h + row, problem_.w, inside);
      std::fill_n(inside + problem_.w * kImageLanes, problem_.pad_right * kImageLanes, 0.0f);
    }
  }

  /// Computes some output channels at `count` neighboring output pixels: the whole K dimension and the epilogue.
  void compute_run(int64_t block, int64_t map, int64_t maps, const float* x, const int64_t* x_at, int64_t pixel,
                   int64_t count, float* sums) const {
    const bool in_place = step_.output_format == kNchw16n;
    const int64_t plane = cut_.grid_h * cut_.grid_w, map_step = (in_place ? plane : count) * kImageLanes;
    float* const to = in_place ? args_.y + ((block * problem_.k + map) * plane + pixel) * kImageLanes : sums;
    const int64_t taps = problem_.r * problem_.s, terms = problem_.terms();
    const int64_t at_a_time = channels_at_a_time(problem_) * taps;
    const float* w = static_cast<const float*>(args_.prepared) + map * terms;
    for (int64_t channels = 0; channels < terms; channels += at_a_time) {
      const int64_t end = std::min(channels + at_a_time, terms);
      for (int64_t term = channels; term < end; term += kTermsAtATime) {
        sum_lanes({.x = x,
                   .x_at = x_at,
                   .pixels = count,
                   .offsets = offsets_ + term,
                   .terms = std::min(kTermsAtATime, end - term),
                   .w = w + term * maps,
                   .maps = static_cast<int>(maps),
                   .y = to,
                   .map_step = map_step,
                   .pixel_step = kImageLanes,
                   .add = term > 0,
                   .window = cut_.pooled ? window_.data() : nullptr});
      }
    }
    for (int64_t m = 0; m < maps; ++m) {
      const float bias = step_.epilogue.bias ? args_.bias[map + m] : 0;
      add_bias_and_activate(step_.epilogue, bias, to + m * map_step, count * kImageLanes);
      if (in_place) continue;
      from_lanes(to + m * map_step, count, args_.y + (block * kImageLanes * problem_.k + map + m) * plane + pixel,
                 problem_.k * plane, problem_.n - block * kImageLanes);
    }
  }

  const ConvArgs& args_;
  const ConvStep& step_;
  const ConvProblem& problem_;
  Cut cut_;
  float* scratch_;     ///< per thread
  int64_t* x_at_;      ///< per pixel of a band
  uint32_t* offsets_;  ///< per K index
  std::array<int64_t, kPoolWindow> window_{};
};

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  const ConvProblem& problem = step.problem;
  if (step.epilogue.pool && !step.epilogue.pool->is_max_2x2()) {
    return "fused pooling other than 2x2 max is not supported";
  }
  if (step.epilogue.pool && problem.terms() > kTermsAtATime) {
    return fmt::format("fused pooling requires a K dimension (C * R * S) of at most {}, got {}", kTermsAtATime,
                       problem.terms());
  }
  const Cut cut = cut_of(step, caps.threads);
  if (checked_product({problem.channels_per_group(), cut.held_h, cut.held_w, kImageLanes}) > UINT32_MAX) {
    return "16 images must have fewer than 2^32 elements";  // offsets are 32-bit
  }
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(checked_mul(step.problem.filter_count(), sizeof(float)));
}

/// Packs filters per tile of output channels: [channel][filter column][filter row][output channel of the tile].
void prepare(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  auto* to = static_cast<float*>(args.prepared);
  for (int64_t group = 0; group < problem.groups; ++group) {
    for_each_map_tile(problem, most_lane_maps(args.step.epilogue.pool.has_value()), [&](int64_t map, int64_t maps) {
      const float* w = args.w + (group * problem.maps_per_group() + map) * problem.terms();
      for (int64_t c = 0; c < problem.channels_per_group(); ++c) {
        for (int64_t s = 0; s < problem.s; ++s) {
          for (int64_t r = 0; r < problem.r; ++r) {
            for (int64_t m = 0; m < maps; ++m) *to++ = w[m * problem.terms() + (c * problem.r + r) * problem.s + s];
          }
        }
      }
    });
  }
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  const Cut cut = cut_of(step, caps.threads);
  const int64_t scratch = checked_product({cut.scratch_count(), caps.threads, sizeof(float)});
  const int64_t tables = checked_add(checked_product({cut.rows, cut.grid_w, sizeof(int64_t)}),
                                     checked_mul(step.problem.terms(), sizeof(uint32_t)));
  return static_cast<size_t>(checked_add(scratch, tables));
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
}  // namespace convlab::cpu_nchw16n_direct
