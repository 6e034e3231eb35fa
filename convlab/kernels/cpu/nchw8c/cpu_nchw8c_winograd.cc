// Winograd convolutions in nchw8c: F(2x2, 3x3) and F(4x4, 3x3).

#include <algorithm>
#include <array>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channels.h"
#include "convlab/kernels/cpu/nchw8c/point_products.h"
#include "convlab/kernels/cpu/nchw8c/winograd_tiles.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_winograd {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw8c_winograd",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .sum = Sum::transform,
    .rung = 6,
    .idea = "Winograd F(4x4, 3x3): 36 products for 16 outputs instead of 144",
    .after = "cpu.nchw16n_winograd",
    .threads =
        "A work item is a block of tiles; if there are few tiles, it is a block's sums for a range of output channels, "
        "and a preceding loop transforms the pixels once for all of them.",
    .cost =
        "1/4 of the direct multiply-adds (4/9 for tiles of 2x2 outputs), in register tiles of 6 tiles by 16 output "
        "channels; about 140 instructions to transform the pixels of a tile for 8 channels, and 120 to transform the "
        "sums of 8 output channels back.",
    .refuses =
        "Filters other than 3x3, strides, dilation, groups, few input or output channels, and outputs smaller than "
        "4x4.",
    .limit = "Multiply-adds; with small images, the memory bandwidth for transformed filters.",
};

constexpr int64_t kLeastChannels = 16, kLeastOutputs = 4;

/// Bytes of transformed filters that L2 or L3 keeps for the next block of tiles.
constexpr int64_t kNearBytes = int64_t{5} << 19;
constexpr int64_t kNearSpan = 2, kFarSpan = 4;  // panels
constexpr int64_t kMostNearTiles = 24, kMostFarTiles = 60;
constexpr int64_t kRegisterTiles = 6;

/// The least time of a pass over the filters, in the time of one tile's products: filters that L2 or L3 does not keep
/// come from memory.
constexpr int64_t kNearPass = 2, kFarPass = 15;

int64_t filter_bytes(const ConvProblem& problem, const WinogradTiles& tiles) {
  return checked_product({problem.k, problem.c, tiles.points(), sizeof(float)});
}

WinogradTiles tiles_of(const ConvProblem& problem, int64_t outputs) {
  return {outputs, ceil_div(problem.p(), outputs), ceil_div(problem.q(), outputs)};
}

/// How a step becomes products. Independent of the batch size, so an image's bits are, too.
struct Form {
  WinogradTiles tiles;
  bool near = false;
  int64_t span = 0;  ///< panels of output channels that are summed at all points, then transformed back
};

Form form_of(const ConvProblem& problem) {
  const auto form = [&](int64_t outputs) {
    const WinogradTiles tiles = tiles_of(problem, outputs);
    const bool near = filter_bytes(problem, tiles) <= kNearBytes;
    return Form{tiles, near, near ? kNearSpan : kFarSpan};
  };
  const auto cost = [](const Form& of) {
    return of.tiles.points() * std::max(of.tiles.per_image(), of.near ? kNearPass : kFarPass);
  };
  const Form small = form(2), large = form(4);
  return cost(small) < cost(large) ? small : large;
}

/// How the work is partitioned, and how much scratch it needs.
struct Cut {
  int64_t tiles = 0, blocks = 0, spans = 0;  ///< tiles of a block; blocks of the batch; spans of the output channels
  bool shared = false;                       ///< all blocks are transformed before any is summed
  int64_t point_step = 0, sums_step = 0;     ///< floats between points: of transformed pixels, of sums
  int64_t points_count = 0, sums_count = 0;  ///< floats: a block's transformed pixels, its sums for a span

  /// Floats of scratch.
  int64_t scratch_count(int threads) const {
    return checked_add(checked_mul(shared ? blocks : threads, points_count), checked_mul(threads, sums_count));
  }
};

Cut cut_of(const ConvProblem& problem, const Form& form, int threads) {
  const int64_t all = checked_mul(problem.n, form.tiles.per_image());
  const int64_t most = form.near ? kMostNearTiles : kMostFarTiles, pass = form.near ? kNearPass : kFarPass;
  Cut cut;
  cut.spans = ceil_div(problem.k, form.span * kPointPanelMaps);
  // The time of the thread with the most work, in tiles. With sharing, threads wait for each other and read each
  // other's pixels from a farther cache, so it must save a tenth.
  double best = 0;
  for (int64_t at_most = kRegisterTiles; at_most <= most; at_most += kRegisterTiles) {
    const int64_t blocks = ceil_div(all, at_most), tiles = ceil_div(all, blocks);
    const auto cost = static_cast<double>(tiles + pass);
    const double own = cost * static_cast<double>(ceil_div(blocks, threads));
    const double shared =
        1.1 * cost * static_cast<double>(ceil_div(blocks * cut.spans, threads)) / static_cast<double>(cut.spans);
    if (best != 0 && std::min(own, shared) >= best) continue;
    best = std::min(own, shared);
    cut.tiles = tiles;
    cut.blocks = blocks;
    cut.shared = shared < own;
  }
  // One more cache line: with a power of two, the points of a tile would map to a few sets of the caches.
  cut.point_step = checked_mul(problem.c, cut.tiles) + kPointPanelMaps;
  cut.sums_step = form.span * cut.tiles * kPointPanelMaps + kPointPanelMaps;
  cut.points_count = checked_mul(form.tiles.points(), cut.point_step);
  cut.sums_count = form.tiles.points() * cut.sums_step;
  return cut;
}

/// One launch: a loop over blocks of tiles or, if shared, one that transforms and one that sums.
class Launch {
 public:
  Launch(const ConvArgs& args, ThreadPool& threads)
      : args_(args),
        problem_(args.step.problem),
        form_(form_of(problem_)),
        cut_(cut_of(problem_, form_, threads.size())),
        threads_(threads) {
    sums_ = static_cast<float*>(args.workspace);
    points_ = sums_ + threads.size() * cut_.sums_count;
  }

  void run() const {
    if (!cut_.shared) {
      in_pieces(cut_.blocks, 1, [this](int64_t block, int thread) {
        float* const points = points_ + thread * cut_.points_count;
        transform(block, 0, channel_blocks(), points);
        for (int64_t span = 0; span < cut_.spans; ++span) sum(block, span, points, thread);
      });
      return;
    }
    const int64_t transforms = cut_.blocks * channel_blocks();
    in_pieces(transforms, ceil_div(transforms, 4 * threads_.size()), [this](int64_t piece, int) {
      const int64_t block = piece / channel_blocks(), channels = piece % channel_blocks();
      transform(block, channels, channels + 1, points_ + block * cut_.points_count);
    });
    in_pieces(cut_.blocks * cut_.spans, 1, [this](int64_t piece, int thread) {
      const int64_t block = piece % cut_.blocks;
      sum(block, piece / cut_.blocks, points_ + block * cut_.points_count, thread);
    });
  }

 private:
  template <class Body>
  void in_pieces(int64_t count, int64_t grain, const Body& body) const {
    threads_.parallel_for(count, grain, [&body](int64_t begin, int64_t end, int thread) {
      for (int64_t piece = begin; piece < end; ++piece) body(piece, thread);
    });
  }

  int64_t channel_blocks() const { return problem_.c / kChannelLanes; }

  WinogradTileRange tile_range(int64_t block, int64_t point_step) const {
    const int64_t first = block * cut_.tiles, all = problem_.n * form_.tiles.per_image();
    return {args_, form_.tiles, first, std::min(cut_.tiles, all - first), point_step};
  }

  /// Transforms some blocks of 8 channels of a block of tiles.
  void transform(int64_t block, int64_t begin, int64_t end, float* points) const {
    const WinogradTileRange tiles = tile_range(block, cut_.point_step);
    winograd_to_points(tiles, begin, end, points, tiles.count * kChannelLanes);
  }

  /// Computes a block's outputs for the output channels of a span.
  void sum(int64_t block, int64_t span, const float* points, int thread) const {
    const WinogradTileRange tiles = tile_range(block, cut_.sums_step);
    const int64_t first = span * form_.span * kPointPanelMaps,
                  maps = std::min(form_.span * kPointPanelMaps, problem_.k - first);
    const float* const w = static_cast<const float*>(args_.prepared) + first * problem_.c * form_.tiles.points();
    float* const sums = sums_ + thread * cut_.sums_count;
    const int64_t panel_step = tiles.count * kPointPanelMaps;
    for (int64_t point = 0; point < form_.tiles.points(); ++point) {
      point_products({.x = points + point * cut_.point_step,
                      .x_step = tiles.count * kChannelLanes,
                      .tiles = tiles.count,
                      .channels = problem_.c,
                      .w = w + point * problem_.c * maps,
                      .maps = maps,
                      .y = sums + point * cut_.sums_step,
                      .y_step = panel_step});
    }
    for (int64_t map = 0; map < maps; map += kChannelLanes) {
      winograd_from_points(tiles, first + map, sums + map / kPointPanelMaps * panel_step + map % kPointPanelMaps);
    }
  }

  const ConvArgs& args_;
  const ConvProblem& problem_;
  const Form form_;
  const Cut cut_;
  ThreadPool& threads_;
  float *sums_, *points_;  ///< by thread; by thread, or by block if shared
};

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_channel_lanes(step, false)) return refusal;
  const ConvProblem& problem = step.problem;
  if (problem.r != 3 || problem.s != 3) return "filter must be 3x3";
  if (!problem.unit_stride() || !problem.unit_dilation() || problem.groups != 1) {
    return "strides, dilation and groups are not supported";
  }
  if (problem.c < kLeastChannels || problem.k < kLeastChannels) {
    return fmt::format(
        "input and output channels must be at least {}: with fewer, the transforms cost more than they save",
        kLeastChannels);
  }
  if (problem.p() < kLeastOutputs || problem.q() < kLeastOutputs) {
    return fmt::format("output must be at least {0}x{0}: tiles would be mostly padding", kLeastOutputs);
  }
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  return static_cast<size_t>(filter_bytes(step.problem, form_of(step.problem).tiles));
}

/// Transforms filters and packs them in the order of their use: [span][point][panel of the span][channel][output
/// channel of the panel].
void prepare(const ConvArgs& args, Stream& stream) {
  const ConvProblem& problem = args.step.problem;
  const Form form = form_of(problem);
  const int64_t span_maps = form.span * kPointPanelMaps, points = form.tiles.points();
  stream.threads()->parallel_for(problem.k, 1, [&](int64_t k, int64_t, int) {
    const int64_t first = k / span_maps * span_maps, maps = std::min(span_maps, problem.k - first);
    const int64_t panel = k / kPointPanelMaps * kPointPanelMaps, width = std::min(kPointPanelMaps, problem.k - panel);
    float* const to = static_cast<float*>(args.prepared) + (first * points + panel - first) * problem.c + k - panel;
    for (int64_t c = 0; c < problem.c; ++c) {
      const std::array<double, 36> of = winograd_filter_points(args.w + (k * problem.c + c) * 9, form.tiles.outputs);
      for (int64_t i = 0; i < points; ++i) {
        to[i * problem.c * maps + c * width] = static_cast<float>(of[static_cast<size_t>(i)]);
      }
    }
  });
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  const Cut cut = cut_of(step.problem, form_of(step.problem), caps.threads);
  return static_cast<size_t>(checked_mul(cut.scratch_count(caps.threads), sizeof(float)));
}

void launch(const ConvArgs& args, Stream& stream) { Launch(args, *stream.threads()).run(); }

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch>,
    .format = kNchw8c,
    .packs_weights = true,
}};

}  // namespace
}  // namespace convlab::cpu_nchw8c_winograd
