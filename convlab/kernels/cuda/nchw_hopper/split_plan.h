#pragma once

#include <algorithm>
#include <cstdint>

#include "convlab/base/checked.h"
#include "convlab/conv/problem.h"

namespace convlab {

// Layout of a convolution in cuda.nchw_hopper_3xfp16; cuda_nchw_hopper_3xfp16.cu describes it.

constexpr int kSplitTile = 64;                               // outputs of a row that are multiplied together
constexpr int kSplitRings = 2;                               // per block, each with its producers and consumers
constexpr int kSplitProducers = 128, kSplitConsumers = 128;  // threads per ring
constexpr int kSplitThreads = kSplitRings * (kSplitProducers + kSplitConsumers);
constexpr int kSplitStages = 4;                    // per ring
constexpr int kSplitSteps = 40;                    // maximum
constexpr int kSplitImages = 8;                    // maximum images side by side in a row: three bits each of a word
constexpr int kSplitResultPitch = kSplitTile + 4;  // four pairs of output channels by eight pixels: 32 banks
constexpr int kSplitBarrierBytes = 1024;           // of shared memory, for barriers, ranges and bias
constexpr int kSplitSharedBytes = 227 * 1024;      // maximum per block

/// Kernel parameters, in 32 bits and passed by value.
struct SplitPlan {
  int n, c, h, w, k, r, s, p, q;
  int pad_top, pad_left;
  int filter_rows;  // filter rows that are multiplied: 3, 5 or 7, at least r
  int maps;         // output channels of a chunk, whose filters a block holds: 16 or 24
  int chunks;

  int images;   // side by side in a staged row, if an output row fits in a tile
  int tiles;    // per output row otherwise
  int groups;   // groups of `images` images
  int pitch;    // slots from one image to the next in a staged row
  int slots;    // filled slots of a staged row
  int planes;   // planes of a staged row: their slots have 8 channels each
  bool paired;  // the last plane's slots have 4 channels of their pixel and 4 of its right neighbor
  bool quads;   // the channels are a multiple of 4

  int steps;                                             // of 16 K elements, per filter row
  int rows;                                              // staged per image
  int stage_rows;                                        // staged together
  int slots_of_thread;                                   // slots that a producer thread fills per stage
  int plane_bytes, small_bytes, row_bytes, stage_bytes;  // small_bytes: from large parts to the small ones
  int filter_bytes;                                      // per chunk
  uint64_t step[kSplitSteps];                            // wgmma descriptors of a row's pixels, for a row at address 0

  constexpr int items() const { return groups * tiles; }
  constexpr int octets() const { return planes - (paired ? 1 : 0); }

  /// Returns the groups of 8 K elements per filter row; a step has two.
  constexpr int taps() const { return octets() * s + (paired ? (s + 1) / 2 : 0); }

  constexpr int shared_bytes() const {
    return kSplitBarrierBytes + filter_bytes +
           kSplitRings * (kSplitStages * stage_bytes + 2 * maps * kSplitResultPitch * 4);
  }
};

/// Returns the slots that a producer thread can fill in a stage. Filters with fewer rows leave more registers.
constexpr int split_slots_of_thread(int filter_rows) { return filter_rows == 7 ? 3 : 5; }

/// Returns the layout of a dense convolution whose sizes fit in 32 bits. The kernel does not support it if `steps`
/// exceeds kSplitSteps, or if `stage_rows` is 0: then a row of pixels, or the filters, do not fit in shared memory.
inline SplitPlan make_split_plan(const ConvProblem& problem) {
  const auto narrow = [](int64_t value) { return static_cast<int>(value); };
  SplitPlan plan{.n = narrow(problem.n),
                 .c = narrow(problem.c),
                 .h = narrow(problem.h),
                 .w = narrow(problem.w),
                 .k = narrow(problem.k),
                 .r = narrow(problem.r),
                 .s = narrow(problem.s),
                 .p = narrow(problem.p()),
                 .q = narrow(problem.q()),
                 .pad_top = narrow(problem.pad_top),
                 .pad_left = narrow(problem.pad_left)};
  plan.filter_rows = plan.r <= 3 ? 3 : plan.r <= 5 ? 5 : 7;
  plan.maps = round_up(plan.k, 16) < round_up(plan.k, 24) ? 16 : 24;
  plan.chunks = narrow(ceil_div(plan.k, plan.maps));
  plan.pitch = narrow(problem.w + problem.pad_left + problem.pad_right);
  plan.images = plan.q > kSplitTile ? 1 : std::min(kSplitImages, (kSplitTile - plan.q) / plan.pitch + 1);
  plan.tiles = narrow(ceil_div(plan.q, kSplitTile));
  plan.groups = narrow(ceil_div(plan.n, plan.images));
  plan.slots = plan.images > 1 ? plan.images * plan.pitch : std::min(plan.pitch, kSplitTile + plan.s - 1);
  plan.planes = narrow(ceil_div(plan.c, 8));
  plan.paired = plan.c % 8 >= 1 && plan.c % 8 <= 4;
  plan.quads = plan.c % 4 == 0;
  plan.steps = (plan.taps() + 1) / 2;
  plan.rows = plan.p + plan.filter_rows - 1;
  plan.plane_bytes = std::max(plan.slots, kSplitTile + plan.s - 1) * 16;
  plan.small_bytes = plan.planes * plan.plane_bytes;
  plan.row_bytes = 2 * plan.small_bytes;
  plan.filter_bytes = plan.steps * plan.filter_rows * plan.maps * 3 * 32;
  // Choose the rows per stage that leave the fewest producer threads idle.
  double best = 0;
  for (int rows = 1; rows <= std::min(plan.rows, 8); ++rows) {
    const int filled = rows * plan.planes * plan.slots, of_thread = narrow(ceil_div(filled, kSplitProducers));
    SplitPlan wider = plan;
    wider.stage_bytes = rows * plan.row_bytes;
    if (of_thread > split_slots_of_thread(plan.filter_rows) || wider.shared_bytes() > kSplitSharedBytes) break;
    const double busy = static_cast<double>(filled) / (of_thread * kSplitProducers);
    if (busy < best) continue;
    best = busy;
    plan.stage_rows = rows;
    plan.slots_of_thread = of_thread;
    plan.stage_bytes = wider.stage_bytes;
  }
  for (int i = 0; i < std::min(plan.steps, kSplitSteps); ++i) {
    const auto address = [&](int tap) {
      const bool pair = tap >= plan.octets() * plan.s;
      const int plane = pair ? plan.octets() : tap / plan.s;
      const int shift = pair ? (tap - plan.octets() * plan.s) * 2 : tap % plan.s;
      return static_cast<uint64_t>(plane * plan.plane_bytes + shift * 16);
    };
    // Beyond the last tap, its own pixels are repeated, because another pixel times a filter of 0 might be NaN.
    const uint64_t first = address(2 * i), second = address(std::min(2 * i + 1, plan.taps() - 1));
    plan.step[i] = first >> 4 | (second - first) >> 4 << 16 | uint64_t{128 >> 4} << 32;
  }
  return plan;
}

}  // namespace convlab
