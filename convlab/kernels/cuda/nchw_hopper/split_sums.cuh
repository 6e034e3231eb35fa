#pragma once

#include "convlab/device/hopper_wgmma.cuh"
#include "convlab/kernels/cuda/nchw_hopper/split_pixels.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Consumers of cuda.nchw_hopper_3xfp16: multiply rows of the ring by the filters, and store finished output rows.

/// Issues the wgmmas of a row of pixels by filter rows kFirst ..., as many as `products` have room for.
template <int kFirst, int kFilterRows, int kMaps, int kSteps, int kProducts>
__device__ void begin_row(float (&products)[kProducts], const SplitPlan& plan, uint32_t pixels, uint64_t filters) {
  using Multiply = WarpgroupMultiply<kProducts * 2>;
  constexpr int kPart = kFilterRows * kMaps * 32 / 16;
  const uint64_t small_pixels = static_cast<uint64_t>(plan.small_bytes) >> 4, row = pixels >> 4;
  filters += kFirst * kMaps * 32 / 16;
  const auto multiply = [&](int step, bool accumulate) {
    const uint64_t a = plan.step[step] + row, b = filters + static_cast<uint64_t>(step) * (3 * kPart);
    Multiply::run(products, a, b, accumulate);
    Multiply::run(products, a, b + kPart, true);
    Multiply::run(products, a + small_pixels, b + 2 * kPart, true);
  };
  fence_multiplications();
  multiply(0, false);
  if constexpr (kSteps > 0) {
#pragma unroll
    for (int step = 1; step < kSteps; ++step) multiply(step, true);
  } else {
#pragma unroll 1
    for (int step = 1; step < plan.steps; ++step) multiply(step, true);
  }
  commit_multiplications();
}

/// Adds begin_row's results to the sums of the output rows above, as far as filters reach: sum[i] is those of the
/// output row i above. The last filter row completes `done`.
template <int kFirst, int kFilterRows, int kSums, int kProducts>
__device__ void add_row(float (&done)[kSums], float (&sum)[kFilterRows - 1][kSums], float (&products)[kProducts]) {
  hold(products);
#pragma unroll
  for (int r = kFirst + kProducts / kSums - 1; r >= kFirst; --r) {
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      float value = products[(r - kFirst) * kSums + i];
      if (r > 0) value += sum[r - 1][i];
      (r < kFilterRows - 1 ? sum[r][i] : done[i]) = value;
    }
    hold(r < kFilterRows - 1 ? sum[r] : done);
  }
}

/// The consumer warpgroup of a ring.
template <int kFilterRows, int kMaps, int kSteps>
struct Consumer {
  static constexpr int kSums = kMaps / 2;  // per thread and output row

  float* __restrict__ y;
  uint32_t* __restrict__ marks;  // a word per image of a work item: whether to compute it again
  const SplitPlan& plan;
  const Ring& ring;
  const float *biases, *scales;  // in shared memory, kMaps of them
  float* results;                // in shared memory, two buffers of kMaps rows
  int chunk, barrier;
  int thread = threadIdx.x % kSplitConsumers, warp = thread / 32, lane = thread % 32;

  int item = 0, stage = 0, parity = 0, in_stage = 0, buffer = 0;
  uint32_t range = 0;
  int offset[2] = {};   // offsets of pixels `lane` and lane + 32 in an output row of the first output channel, or -1
  float* to = nullptr;  // this warp's first output channel of the work item's first image
  float sum[kFilterRows - 1][kSums] = {}, done[kSums] = {};

  __device__ int tile() const { return plan.tiles > 1 ? item % plan.tiles : 0; }
  __device__ int image() const { return (plan.tiles > 1 ? item / plan.tiles : item) * plan.images; }

  __device__ void begin_item() {
    const int image_pixels = plan.p * plan.q, images = min(plan.images, plan.n - image());
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int place = lane + i * 32, of = plan.images > 1 ? place / plan.pitch : 0;
      const int column = tile() * kSplitTile + place - of * plan.pitch;
      offset[i] = of < images && column < plan.q ? of * plan.k * image_pixels + column : -1;
    }
    to = y + (int64_t{image()} * plan.k + chunk * kMaps + warp) * image_pixels;
  }

  /// Waits for the next row and returns its address.
  __device__ uint32_t await_row() {
    if (in_stage == 0) barrier_wait(&ring.full[stage], parity);
    return to_shared(ring.stages) + stage * plan.stage_bytes + in_stage * plan.row_bytes;
  }

  /// Releases the row's stage if that was its last row.
  __device__ void leave_row(bool last) {
    if (++in_stage != plan.stage_rows && !last) return;
    if (last) {
      const uint4 ranges = *reinterpret_cast<const uint4*>(ring.ranges + stage * 4);
      range = ranges.x | ranges.y | ranges.z | ranges.w;
      __syncwarp();
    }
    if (lane == 0) barrier_arrive(&ring.empty[stage]);
    in_stage = 0;
    if (++stage == kSplitStages) {
      stage = 0;
      parity ^= 1;
    }
  }

  __device__ void store(int p) {
    float* const of_buffer = results + buffer * kMaps * kSplitResultPitch;
    buffer ^= 1;
    // Pixels g and g + 8 of the warp's 16, output channels 2 t and 2 t + 1 of each 8.
    float* const mine = of_buffer + lane % 4 * 2 * kSplitResultPitch + warp * 16 + lane / 4;
#pragma unroll
    for (int i = 0; i < kSums; ++i) mine[(i / 4 * 8 + i % 2) * kSplitResultPitch + i % 4 / 2 * 8] = done[i];
    barrier_of_some(barrier, kSplitConsumers);
    const int maps = plan.k - chunk * kMaps - warp, map_step = 4 * plan.p * plan.q;
    const float* const result = of_buffer + warp * kSplitResultPitch + lane;
    float value[2][kMaps / 4];
#pragma unroll
    for (int i = 0; i < kMaps / 4; ++i) {
      const float scale = scales[warp + i * 4], add = biases[warp + i * 4];
      value[0][i] = result[i * 4 * kSplitResultPitch] * scale + add;
      value[1][i] = result[i * 4 * kSplitResultPitch + 32] * scale + add;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (offset[half] < 0) continue;
      float* out = to + offset[half] + p * plan.q;
#pragma unroll
      for (int i = 0; i < kMaps / 4; ++i, out += map_step) {
        if (i * 4 < maps) *out = value[half][i];
      }
    }
  }

  /// Marks the images that must be computed again.
  __device__ void end_item() {
    if (thread < plan.images && chunk == 0) {
      marks[item * plan.images + thread] = out_of_range(range >> (3 * thread) & 7) ? 1 : 0;
    }
  }

  /// Multiplies a row by filter rows kFirst .. kFirst + kRows - 1. Meanwhile, stores the outputs that the previous row
  /// completed.
  template <int kFirst, int kRows>
  __device__ void take_row(int row, uint64_t filters) {
    float products[kRows * kSums];
    const uint32_t pixels = await_row();
    begin_row<kFirst, kFilterRows, kMaps, kSteps>(products, plan, pixels, filters);
    if (row >= kFilterRows) store(row - kFilterRows);
    await_multiplications();
    leave_row(row + 1 == plan.rows);
    add_row<kFirst, kFilterRows>(done, sum, products);
  }

  /// Consumes the rows of work items first, first + step, ... from the ring.
  __device__ void run(uint64_t filters, int first, int step) {
    // An image's first and last rows need only some of the filter rows.
    constexpr int kEdge = kFilterRows / 2 + 1;
    for (item = first; item < plan.items(); item += step) {
      begin_item();
      int row = 0;
#pragma unroll 1
      for (; row < kEdge; ++row) take_row<0, kEdge>(row, filters);
#pragma unroll 1
      for (; row < plan.rows - kEdge; ++row) take_row<0, kFilterRows>(row, filters);
#pragma unroll 1
      for (; row < plan.rows; ++row) take_row<kFilterRows - kEdge, kEdge>(row, filters);
      store(plan.p - 1);
      end_item();
    }
  }
};

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
