// Direct convolution in nchw8c.

#include <algorithm>
#include <cstring>

#include "convlab/base/checked.h"
#include "convlab/device/thread_pool.h"
#include "convlab/kernels/cpu/nchw8c/channel_sums.h"
#include "convlab/kernels/cpu/nchw8c/image_source_nchw8c.h"
#include "convlab/kernels/cpu/simd/vector_epilogue.h"
#include "convlab/kernels/registry.h"

namespace convlab::cpu_nchw8c_direct {
namespace {

constexpr KernelInfo kInfo{
    .name = "cpu.nchw8c_direct",
    .device = DeviceKind::cpu,
    .math = Math::fp32,
    .rung = 2,
    .idea =
        "output channels in vector lanes and a pointer for each pixel: one inner loop for all filters, strides and "
        "padding",
    .after = "cpu.direct",
    .threads =
        "A work item is a block of output pixels of an image and, if images are small, a range of output channels.",
    .cost =
        "C * R * S fused multiply-adds, each 1 / lanes of a vector instruction. Padded inputs, and inputs of strided "
        "1x1 filters, are copied once for each work item.",
    .refuses = "Input or output channels per group that are not a multiple of 8, and fused pooling.",
    .limit = "Multiply-adds: 12 for 8 loads, with AVX-512 24 for 14.",
};

constexpr int64_t kBlockBytes = int64_t{256} << 10;  // of input under a block of pixels: half of L2
constexpr int64_t kStayingBytes = int64_t{1} << 20;  // weights that stay in the caches from block to block
constexpr int64_t kPanelBytes = int64_t{18} << 10;   // weights that stay in L1 from tile to tile
constexpr int64_t kLargeMap = 256;                   // pixels from which on threads split pixels, not channels

int64_t panel_count(int64_t maps) {
  int64_t panels = 0;
  for (int64_t map = 0; map < maps; map += channel_panel_maps(maps - map)) ++panels;
  return panels;
}

/// How the work is partitioned: by image, group, block of pixels and range of panels.
struct Cut {
  int64_t blocks = 1, parts = 1;

  Cut(const ConvStep& step, int threads) {
    const ConvProblem& problem = step.problem;
    const int64_t pixels = problem.p() * problem.q(), images = problem.n * problem.groups;
    const int64_t wanted = threads == 1 ? 1 : ceil_div(2 * threads, images);
    const int64_t weights = problem.filter_count() / problem.groups * 4;
    if (weights <= kStayingBytes) blocks = ceil_div(problem.input_count() / images * 4, kBlockBytes);
    if (pixels > kLargeMap) blocks = std::max(blocks, std::min(wanted, pixels / 48));
    blocks = std::min(blocks, problem.p());
    parts = std::min(ceil_div(wanted, blocks), panel_count(problem.maps_per_group()));
  }
};

/// The prepared data that a launch reads: weights, offsets of reduction blocks, offsets of pixels.
struct Prepared {
  float* weights;
  int32_t* offsets;
  int32_t* pixels;

  Prepared(const ConvProblem& problem, void* memory) : weights(static_cast<float*>(memory)) {
    offsets = reinterpret_cast<int32_t*>(weights + problem.filter_count());
    pixels = offsets + problem.terms() / kChannelLanes;
  }

  static size_t bytes(const ConvProblem& problem) {
    return static_cast<size_t>(4 *
                               (problem.filter_count() + problem.terms() / kChannelLanes + problem.p() * problem.q()));
  }
};

Refusal refuses(const ConvStep& step, const DeviceCaps&) {
  if (Refusal refusal = refuse_unless_channel_lanes(step, false)) return refusal;
  const ConvProblem& problem = step.problem;
  if (problem.channels_per_group() % kChannelLanes != 0) return "input channels per group must be a multiple of 8";
  if (problem.maps_per_group() % kChannelLanes != 0) return "output channels per group must be a multiple of 8";
  if (Source(problem).reach() > INT32_MAX) return "a padded image must have fewer than 2^31 elements";
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) { return Prepared::bytes(step.problem); }

/// Packs weights by panel: [block of 8 channels][row and column of the filter][channel][output channel of the panel].
void prepare(const ConvArgs& args, Stream&) {
  const ConvProblem& problem = args.step.problem;
  const Prepared prepared(problem, args.prepared);
  float* to = prepared.weights;
  const int64_t maps = problem.maps_per_group(), channels = problem.channels_per_group(), taps = problem.r * problem.s;
  for (int64_t group = 0; group < problem.groups; ++group) {
    for (int64_t first = 0, count = 0; first < maps; first += count) {
      count = channel_panel_maps(maps - first);
      const float* const w = args.w + (group * maps + first) * problem.terms();
      for (int64_t block = 0; block < channels; block += kChannelLanes) {
        for (int64_t tap = 0; tap < taps; ++tap) {
          for (int64_t c = block; c < block + kChannelLanes; ++c) {
            for (int64_t m = 0; m < count; ++m) *to++ = w[m * problem.terms() + c * taps + tap];
          }
        }
      }
    }
  }
  const Source source(problem);
  int32_t* offset = prepared.offsets;
  for (int64_t block = 0; block < channels / kChannelLanes; ++block) {
    for (int64_t r = 0; r < problem.r; ++r) {
      for (int64_t s = 0; s < problem.s; ++s) *offset++ = source.place_of_tap(block, r, s);
    }
  }
  for (int64_t i = 0; i < problem.p(); ++i) {
    for (int64_t j = 0; j < problem.q(); ++j) prepared.pixels[i * problem.q() + j] = source.place_of_pixel(i, j);
  }
}

/// Output rows that a block of pixels touches.
int64_t rows_of_block(const ConvProblem& problem, const Cut& cut) {
  return std::min(problem.p(), ceil_div(ceil_div(problem.p() * problem.q(), cut.blocks), problem.q()) + 1);
}

int64_t scratch_count(const ConvStep& step, int threads) {
  const Source source(step.problem);
  return source.copied() ? source.count(rows_of_block(step.problem, Cut(step, threads))) : 0;
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps& caps) {
  return static_cast<size_t>(checked_product({scratch_count(step, caps.threads), caps.threads, sizeof(float)}));
}

/// A work item: pixels and panels of one image and group.
struct Piece {
  int64_t image, group;
  int64_t pixel, pixels;        // first, count
  int64_t panel, end_of_panel;  // first panel, end
};

void convolve(const ConvArgs& args, const Piece& piece, float* scratch) {
  const ConvStep& step = args.step;
  const ConvProblem& problem = step.problem;
  const Prepared prepared(problem, args.prepared);
  const Source source(problem);
  const int64_t map_pixels = problem.p() * problem.q(), maps = problem.maps_per_group();
  const int64_t channels = problem.channels_per_group(), taps = problem.r * problem.s;
  const int64_t first_row = piece.pixel / problem.q();
  const float* x = static_cast<const float*>(args.x) +
                   piece.image * image_step(step.input_step, problem.input_shape()) +
                   piece.group * channels * problem.h * problem.w;
  int32_t origin = 0;
  if (source.copied()) {
    const int64_t rows = (piece.pixel + piece.pixels - 1) / problem.q() - first_row + 1;
    source.copy(x, first_row, rows, scratch);
    origin = source.place_of_pixel(first_row, 0);
    x = scratch;
  }

  const std::optional<Clamp> clamp = clamp_of(step.epilogue.activation);
  const int64_t group_map = piece.group * maps, begin = piece.pixel * kChannelLanes;
  const int64_t image = piece.image * image_step(step.output_step, problem.output_shape());
  const int64_t added_image = piece.image * image_step(step.added_step, problem.output_shape());
  ChannelSums sums{.x = x,
                   .pixels = prepared.pixels + piece.pixel,
                   .origin = origin,
                   .count = piece.pixels,
                   .w = prepared.weights + group_map * problem.terms(),
                   .block_step = map_pixels * kChannelLanes,
                   .clamp = clamp.value_or(Clamp{})};
  const int64_t all_terms = channels / kChannelLanes * taps;
  int64_t map = 0;
  for (int64_t panel = 0; panel < piece.end_of_panel; ++panel, map += sums.maps) {
    sums.maps = channel_panel_maps(maps - map);
    if (panel < piece.panel) {
      sums.w += sums.maps * problem.terms();
      continue;
    }
    const int64_t place = (group_map + map) * map_pixels + begin;
    sums.bias = step.epilogue.bias ? args.bias + group_map + map : nullptr;
    sums.added = step.adds ? args.added + added_image + place : nullptr;
    sums.y = args.y + image + place;
    const int64_t at_a_time = std::max<int64_t>(1, kPanelBytes / (taps * kChannelLanes * sums.maps * 4)) * taps;
    for (int64_t term = 0; term < all_terms; term += sums.terms) {
      sums.terms = std::min(at_a_time, all_terms - term);
      sums.offsets = prepared.offsets + term;
      sums.first = term == 0;
      sums.last = term + sums.terms == all_terms;
      sum_channels(sums);
      sums.w += sums.terms * kChannelLanes * sums.maps;
    }
    if (clamp) continue;
    for (int64_t block = 0; block < sums.maps; block += kChannelLanes) {
      activate(step.epilogue.activation, sums.y + block * map_pixels, piece.pixels * kChannelLanes);
    }
  }
}

void launch(const ConvArgs& args, Stream& stream) {
  ThreadPool& threads = *stream.threads();
  const ConvProblem& problem = args.step.problem;
  const Cut cut(args.step, threads.size());
  const int64_t pixels = problem.p() * problem.q(), panels = panel_count(problem.maps_per_group());
  const int64_t scratch = scratch_count(args.step, threads.size());
  const int64_t pieces = problem.n * problem.groups * cut.parts * cut.blocks;
  threads.parallel_for(pieces, 1, [&](int64_t at, int64_t, int thread) {
    const int64_t block = at % cut.blocks, part = at / cut.blocks % cut.parts, image = at / cut.blocks / cut.parts;
    const int64_t pixel = pixels * block / cut.blocks, panel = panels * part / cut.parts;
    convolve(args,
             {.image = image / problem.groups,
              .group = image % problem.groups,
              .pixel = pixel,
              .pixels = pixels * (block + 1) / cut.blocks - pixel,
              .panel = panel,
              .end_of_panel = panels * (part + 1) / cut.parts},
             static_cast<float*>(args.workspace) + thread * scratch);
  });
}

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
}  // namespace convlab::cpu_nchw8c_direct
