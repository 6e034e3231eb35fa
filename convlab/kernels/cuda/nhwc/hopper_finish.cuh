#pragma once

// Prologue and epilogue of hopper_conv.cuh. Sums start from their bias. The epilogue works on boxes, a warp's 16 output
// pixels by 64 or 32 output channels: it adds the fused addend, applies the activation, and stores the box through
// shared memory. A clamp takes two instructions for two fp16 values. This code runs once per tile and misses the
// instruction cache, so code size matters.

#ifdef __CUDACC__

#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_tile.cuh"
#include "convlab/kernels/cuda/nhwc/pixel_end.cuh"
#include "convlab/kernels/cuda/nhwc/quick_activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Calls `each(i, bias)` for a lane's sums i, i + 1 and, of the pixel 8 below, i + 2, i + 3. `bias` is that of their
/// two output channels, counted from `map`, or zeros.
template <int kMaps>
__device__ void for_each_bias(const float* bias, int map, int maps, const auto& each) {
  const int first = map + threadIdx.x % 4 * 2;
#pragma unroll
  for (int i = 0; i < kMaps / 8; ++i) {
    const bool exists = bias != nullptr && first + 8 * i < maps;
    each(4 * i, exists ? __ldg(reinterpret_cast<const float2*>(bias + first) + 4 * i) : float2{0, 0});
  }
}

/// Initializes the sums with the bias.
template <int kBlocks, int kCount>
__device__ void begin_with_bias(float (&sums)[kBlocks][kCount], const float* bias, int map, int maps) {
  for_each_bias<2 * kCount>(bias, map, maps, [&](int i, float2 pair) {
#pragma unroll
    for (float(&block)[kCount] : sums) {
      block[i] = block[i + 2] = pair.x;
      block[i + 1] = block[i + 3] = pair.y;
    }
  });
}

template <int kCount>
__device__ void add_bias(float (&sums)[kCount], const float* bias, int map, int maps) {
  for_each_bias<2 * kCount>(bias, map, maps, [&](int i, float2 pair) {
    sums[i] += pair.x;
    sums[i + 1] += pair.y;
    sums[i + 2] += pair.x;
    sums[i + 3] += pair.y;
  });
}

/// Converts two results to clamped fp16x2.
class ClampedHalves {
 public:
  __device__ explicit ClampedHalves(const Clamp& clamp)
      : low_(bits(clamp.low, clamp.low)), high_(bits(clamp.high, clamp.high)) {}

  __device__ uint32_t operator()(float first, float second) const {
    uint32_t pair = bits(first, second);
    asm("max.NaN.f16x2 %0, %0, %1;" : "+r"(pair) : "r"(low_));
    asm("min.NaN.f16x2 %0, %0, %1;" : "+r"(pair) : "r"(high_));
    return pair;
  }

 private:
  __device__ static uint32_t bits(float first, float second) {
    return SplitTerms::bits(__floats2half2_rn(first, second));
  }

  uint32_t low_, high_;
};

/// A lane's elements of a box of 16 pixels by kMaps output channels, whose 16-byte chunks are swizzled. Of each 8
/// output channels, a lane holds two of pixel lane / 4 and two of the pixel 8 below.
template <class Element, int kMaps>
class BoxPlace;

template <int kMaps>
class BoxPlace<__half, kMaps> {
 public:
  __device__ explicit BoxPlace(SharedAddress box)
      : row_(box + threadIdx.x % 16 * kMaps * 2), permute_(kMaps == 64 ? threadIdx.x % 8 : threadIdx.x / 2 % 4) {}

  __device__ void add_to(float (&sums)[kMaps / 2]) const {
#pragma unroll
    for (int i = 0; i < kMaps / 16; ++i) {
      uint32_t pairs[4];
      load_matrices(pairs, chunk(i));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const float2 pair = __half22float2(*reinterpret_cast<const __half2*>(&pairs[j]));
        sums[8 * i + 2 * j] += pair.x;
        sums[8 * i + 2 * j + 1] += pair.y;
      }
    }
  }

  __device__ void put(const float (&sums)[kMaps / 2], const Clamp& clamp) const {
    const ClampedHalves halves(clamp);
#pragma unroll
    for (int i = 0; i < kMaps / 16; ++i) {
      uint32_t pairs[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) pairs[j] = halves(sums[8 * i + 2 * j], sums[8 * i + 2 * j + 1]);
      store_matrices(chunk(i), pairs);
    }
  }

 private:
  __device__ SharedAddress chunk(int sixteen) const {
    return row_ + ((2 * sixteen + threadIdx.x % 32 / 16) ^ permute_) * 16;
  }

  SharedAddress row_;
  int permute_;
};

template <int kMaps>
class BoxPlace<float, kMaps> {
 public:
  static_assert(kMaps == 32);
  __device__ explicit BoxPlace(SharedAddress box) : row_(box + threadIdx.x % 32 / 4 * kMaps * 4) {}

  __device__ void add_to(float (&sums)[kMaps / 2]) const {
#pragma unroll
    for (int i = 0; i < kMaps / 4; ++i) {
      const float2 pair = *reinterpret_cast<const float2*>(__cvta_shared_to_generic(pair_at(i)));
      sums[2 * i] += pair.x;
      sums[2 * i + 1] += pair.y;
    }
  }

  __device__ void put(const float (&sums)[kMaps / 2], const Clamp& clamp) const {
#pragma unroll
    for (int i = 0; i < kMaps / 4; ++i) {
      *reinterpret_cast<float2*>(__cvta_shared_to_generic(pair_at(i))) = {clamped(clamp, sums[2 * i]),
                                                                          clamped(clamp, sums[2 * i + 1])};
    }
  }

 private:
  /// Returns the address of pair i: output channels from i / 2 * 8 on, of the upper pixel if i is even, otherwise of
  /// the lower.
  __device__ SharedAddress pair_at(int i) const {
    const int lane = threadIdx.x % 32, chunk = i / 2 * 2 + lane % 4 / 2;
    return row_ + i % 2 * (8 * kMaps * 4) + (chunk ^ lane / 4) * 16 + lane % 2 * 8;
  }

  SharedAddress row_;
};

/// Writes a warp's tiles. `warp`: index in the block, uniform across the warp.
template <class Tile>
struct BoxWriter {
  using Element = typename Tile::Element;
  const PixelShared<Tile>& shared;
  const CUtensorMap &added, &y;
  const PixelConvOf<Element>& conv;
  int warp;
  int added_parity = 0;

  __device__ static int box_row(int row, int box) { return row + box / Tile::kBoxColumns * 64; }
  __device__ static int box_map(int map, int box) { return map + box % Tile::kBoxColumns * Tile::kBoxMaps; }

  /// Starts the TMA copy of a box's addend to its slot. The slot's previous results must have been stored.
  __device__ void fetch(int row, int map, int box) {
    uint64_t* const barrier = shared.added + warp * Tile::kBoxes + box % Tile::kBoxes;
    barrier_arrive_expecting(barrier, Tile::kBox);
    fetch_rows(shared.box(warp, box % Tile::kBoxes), added, box_map(map, box), box_row(row, box), barrier);
  }

  /// Begins a tile before its sums are complete: prefetches the addends. `row` is the warp's first.
  __device__ void begin(int row, int map) {
    if (conv.added == nullptr || !elected()) return;
    await_stores<0>();
#pragma unroll
    for (int box = 0; box < Tile::kBoxes; ++box) fetch(row, map, box);
  }

  __device__ void write(float (&sums)[Tile::kBlocks][Tile::kMaps / 2], int row, int map) {
    const std::optional<Clamp> clamp = clamp_of(conv.activation);
#pragma unroll
    for (int box = 0; box < Tile::kBoxesOfTile; ++box) {
      const int slot = box % Tile::kBoxes;
      const BoxPlace<Element, Tile::kBoxMaps> place(shared.box(warp, slot));
      if (conv.added != nullptr) {
        barrier_wait(shared.added + warp * Tile::kBoxes + slot, added_parity);
        if (slot == Tile::kBoxes - 1) added_parity ^= 1;
      } else {
        if (elected()) await_stores<Tile::kBoxes - 1>();
        __syncwarp();
      }
      float(&box_sums)[Tile::kBoxMaps / 2] = *reinterpret_cast<float(*)[Tile::kBoxMaps / 2]>(
          &sums[box / Tile::kBoxColumns][box % Tile::kBoxColumns * (Tile::kBoxMaps / 2)]);
      if (conv.added != nullptr) place.add_to(box_sums);
      if (!clamp) bend<!Tile::Terms::kSplit>(conv.activation, box_sums);
      place.put(box_sums, clamp.value_or(Clamp{}));
      fence_for_async();
      __syncwarp();
      if (elected()) {
        store_rows(y, box_map(map, box), box_row(row, box), shared.box(warp, slot));
        if (conv.added != nullptr && box + Tile::kBoxes < Tile::kBoxesOfTile) {
          await_stores<0>();
          fetch(row, map, box + Tile::kBoxes);
        }
      }
    }
  }
};

/// Sends a warpgroup's partial sums, from row `row` of the tile on, to the distributed shared memory of the blocks that
/// finish them. Those that this block finishes stay.
template <class Tile>
__device__ void send_sums(const PixelShared<Tile>& shared, const float (&sums)[Tile::kBlocks][Tile::kMaps / 2], int row,
                          int rank) {
  const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) {
    const int first = row + 64 * block + warp * 16;
#pragma unroll
    for (int i = 0; i < Tile::kMaps / 4; ++i) {
      unsigned char* const to = shared.stages + (first + lane / 4 + i % 2 * 8) * Tile::kPartRow;
      reinterpret_cast<float2*>(to)[i / 2 * 4 + lane % 4] = {sums[block][2 * i], sums[block][2 * i + 1]};
    }
    fence_for_async();
    __syncwarp();
    constexpr int kSent = Tile::kPartRows < 16 ? Tile::kPartRows : 16;
    if (lane >= 16 / kSent) continue;
    const int sent = first + lane * kSent, owner = sent / Tile::kPartRows;
    if (owner == rank) continue;
    send_bulk(to_shared(shared.stages) + sent * Tile::kPartRow,
              to_shared(shared.part(rank < owner ? rank : rank - 1)) + sent % Tile::kPartRows * Tile::kPartRow,
              kSent * Tile::kPartRow, shared.parts, owner);
  }
}

/// Adds the split-K parts, from this block and the others of the cluster, of the pixels that this block finishes.
/// Arrives at the cluster barrier when all parts have arrived.
template <class Tile>
__device__ void add_parts(const PixelShared<Tile>& shared, const PixelConvOf<typename Tile::Element>& conv,
                          const TilePlace<Tile>& place, int rank) {
  constexpr int kThreads = 128 * Tile::kConsumers, kChunks = Tile::kMaps / 8, kEach = Tile::kPartRows * kChunks;
  constexpr int kTurns = (kEach + kThreads - 1) / kThreads;
  const int64_t rows = int64_t{conv.shape.n} * conv.shape.p * conv.shape.q;
  const auto each = [&](auto what) {
#pragma unroll
    for (int turn = 0; turn < kTurns; ++turn) {
      const int i = threadIdx.x + turn * kThreads, row = i / kChunks, map = i % kChunks * 8;
      const int64_t pixel = place.row + rank * Tile::kPartRows + row;
      if (i < kEach && pixel < rows && place.map + map < conv.shape.k) what(turn, row, map, pixel);
    }
  };
  float sums[kTurns][8] = {};
  each([&](int turn, int, int map, int64_t pixel) { add_given(conv, sums[turn], pixel, place.map + map); });
  barrier_of_some(1, kThreads);  // this block's own part is complete
  barrier_wait(shared.parts, 0);
  arrive_at_cluster();
  each([&](int turn, int row, int map, int64_t pixel) {
#pragma unroll
    for (int part = 0; part < Tile::kParts; ++part) {
      const unsigned char* from = part == 0 ? shared.stages + rank * Tile::kPart : shared.part(part - 1);
      float some[8];
      load_eight(reinterpret_cast<const float*>(from + row * Tile::kPartRow) + map, some);
#pragma unroll
      for (int i = 0; i < 8; ++i) sums[turn][i] += some[i];
    }
    activate<!Tile::Terms::kSplit>(conv.activation, sums[turn]);
    leave_pixel(conv, sums[turn], pixel, place.map + map);
  });
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
