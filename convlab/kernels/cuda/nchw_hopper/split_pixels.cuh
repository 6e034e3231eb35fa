#pragma once

#include "convlab/device/hopper.cuh"
#include "convlab/kernels/cuda/nchw_hopper/split_plan.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Producers of cuda.nchw_hopper_3xfp16: split pixels into large and small fp16 parts in a ring of rows.

constexpr float kSmallScale = 2048;  // of the small parts: they are not subnormal unless the large ones are

/// Range bits, which decide whether an image's pixels fit in fp16 range.
constexpr uint32_t kTooLarge = 1, kUsual = 2, kNotZero = 4;

/// Returns the range bits of the largest magnitude, or of NaN.
inline __device__ uint32_t range_of(float largest) {
  return (largest < 65504 ? 0 : kTooLarge) | (largest >= 0x1p-12f ? kUsual : 0) | (largest > 0 ? kNotZero : 0);
}

/// Returns whether values exceed the largest fp16 number, or all are so small that their parts lose bits.
inline __device__ bool out_of_range(uint32_t range) {
  return (range & kTooLarge) != 0 || (range & (kUsual | kNotZero)) == kNotZero;
}

/// Returns the larger of `magnitude` and |value|, or NaN if either is NaN.
inline __device__ float larger(float magnitude, float value) {
  float result;
  asm("{.reg .f32 magnitude; abs.f32 magnitude, %2; max.NaN.f32 %0, %1, magnitude;}"
      : "=f"(result)
      : "f"(magnitude), "f"(value));
  return result;
}

inline __device__ uint32_t half_bits(__half2 pair) {
  return __half_as_ushort(__low2half(pair)) | uint32_t{__half_as_ushort(__high2half(pair))} << 16;
}

/// Splits two values into their large parts and their small parts, as fp16x2.
inline __device__ void split(float first, float second, uint32_t& large, uint32_t& small) {
  const __half2 rounded = __floats2half2_rn(first, second);
  const float2 back = __half22float2(rounded);
  large = half_bits(rounded);
  small = half_bits(__floats2half2_rn((first - back.x) * kSmallScale, (second - back.y) * kSmallScale));
}

/// The ring of staged rows between producers and consumers.
struct Ring {
  unsigned char* stages;
  uint64_t *full, *empty;  // one barrier per stage
  uint32_t* ranges;        // range bits of a work item's pixels, a word per producer warp, in the item's last stage
};

/// A slot that a thread fills in each stage, with eight values: two quads of channels of a pixel, or a quad of it and
/// one of its right neighbor. Channels that do not exist repeat the last one; their filters are 0.
struct Slot {
  int from;       // elements from the group's first pixel to the first quad
  int to;         // bytes from the start of the stage
  int row;        // row in the stage; a large number if there is no slot
  float largest;  // largest magnitude so far
  bool exists, paired, next_exists;

  __device__ int image(const SplitPlan& plan) const {
    return plan.images > 1 ? to % plan.plane_bytes / 16 / plan.pitch : 0;
  }
};

/// Returns slot number `unit` of a stage, for a group of images whose rows begin at `first_column`.
inline __device__ Slot make_slot(const SplitPlan& plan, int unit, int images, int first_column) {
  Slot slot{};
  slot.row = unit / (plan.planes * plan.slots);
  const int of_row = unit % (plan.planes * plan.slots), plane = of_row / plan.slots, place = of_row % plan.slots;
  slot.to = slot.row * plan.row_bytes + plane * plan.plane_bytes + place * 16;
  const int image = plan.images > 1 ? place / plan.pitch : 0, w = first_column + place - image * plan.pitch;
  slot.from = (image * plan.c + plane * 8) * plan.h * plan.w + (slot.row - plan.pad_top) * plan.w + w;
  slot.paired = plan.paired && plane == plan.planes - 1;
  slot.exists = image < images && w >= 0 && w < plan.w;
  slot.next_exists = slot.paired ? image < images && w + 1 >= 0 && w + 1 < plan.w : slot.exists;
  if (slot.row >= plan.stage_rows) slot.row = 1 << 20;
  return slot;
}

struct Values {
  float value[8];
};

/// Loads a slot's values of a stage whose first row is row h of the images. `x` is the group's first pixel, advanced by
/// the stage's first row. kQuads: all quads of channels are complete.
template <bool kQuads>
__device__ Values load(const float* __restrict__ x, const SplitPlan& plan, const Slot& slot, int h, int area) {
  Values values;
  const bool row_exists = static_cast<unsigned>(h + slot.row) < static_cast<unsigned>(plan.h);
  const float* from = x + slot.from;
#pragma unroll
  for (int quad = 0; quad < 2; ++quad) {
    const bool exists = row_exists && (quad == 0 ? slot.exists : slot.next_exists);
    const int last = plan.c - 1 - (slot.to % plan.small_bytes / plan.plane_bytes * 8 + (slot.paired ? 0 : quad * 4));
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      values.value[quad * 4 + i] = exists ? __ldg(from + (kQuads ? i : min(i, last)) * area) : 0;
    }
    from += slot.paired ? 1 : 4 * area;
  }
  return values;
}

/// Splits the values and stores both parts, `small` bytes apart.
inline __device__ void store(unsigned char* stage, const Values& values, Slot& slot, int small) {
#pragma unroll
  for (int i = 0; i < 8; ++i) slot.largest = larger(slot.largest, values.value[i]);
  uint4 large, rest;
  split(values.value[0], values.value[1], large.x, rest.x);
  split(values.value[2], values.value[3], large.y, rest.y);
  split(values.value[4], values.value[5], large.z, rest.z);
  split(values.value[6], values.value[7], large.w, rest.w);
  *reinterpret_cast<uint4*>(stage + slot.to) = large;
  *reinterpret_cast<uint4*>(stage + slot.to + small) = rest;
}

/// Fills a ring with the rows of work items first, first + step, ...: each a group of images, or a tile of one.
template <int kSlots, bool kQuads>
__device__ void produce(const float* __restrict__ x, const SplitPlan& plan, const Ring& ring, int first, int step) {
  const int thread = threadIdx.x % kSplitProducers, warp = thread / 32;
  const int area = plan.h * plan.w;
  constexpr int kAhead = kSlots > 3 ? 2 : 1;  // slots whose values are prefetched while one is stored
  int stage = 0;
  uint32_t parity = 1;
  for (int item = first; item < plan.items(); item += step) {
    const int group = plan.tiles > 1 ? item / plan.tiles : item, tile = item - group * plan.tiles;
    const int image = group * plan.images, images = min(plan.images, plan.n - image);
    Slot slots[kSlots];
#pragma unroll
    for (int i = 0; i < kSlots; ++i) {
      slots[i] = make_slot(plan, thread + i * kSplitProducers, images, tile * kSplitTile - plan.pad_left);
    }
    const float* const from = x + int64_t{image} * plan.c * area;
    // Loads slot i of the stage that begins with this row; i counts on into the following stages.
    const auto load_slot = [&](int i, int row) {
      row += i / kSlots * plan.stage_rows;
      return load<kQuads>(from + row * plan.w, plan, slots[i % kSlots], row - plan.pad_top, area);
    };
    Values ahead[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) ahead[i] = load_slot(i, 0);
    for (int row = 0; row < plan.rows; row += plan.stage_rows) {
      barrier_wait(&ring.empty[stage], parity);
      unsigned char* to = ring.stages + stage * plan.stage_bytes;
#pragma unroll
      for (int i = 0; i < kSlots; ++i) {
        const Values current = ahead[0];
#pragma unroll
        for (int j = 1; j < kAhead; ++j) ahead[j - 1] = ahead[j];
        ahead[kAhead - 1] = load_slot(i + kAhead, row);
        if (slots[i].row < plan.stage_rows) store(to, current, slots[i], plan.small_bytes);
      }
      if (row + plan.stage_rows >= plan.rows) {
        uint32_t range = 0;
#pragma unroll
        for (int i = 0; i < kSlots; ++i) range |= range_of(slots[i].largest) << (3 * slots[i].image(plan));
        range = __reduce_or_sync(0xffffffffu, range);
        if (thread % 32 == 0) ring.ranges[stage * (kSplitProducers / 32) + warp] = range;
      }
      fence_for_async();
      __syncwarp();
      if (thread % 32 == 0) barrier_arrive(&ring.full[stage]);
      if (++stage == kSplitStages) {
        stage = 0;
        parity ^= 1;
      }
    }
  }
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
