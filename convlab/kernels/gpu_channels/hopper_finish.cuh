#pragma once

// What follows the sums of hopper_conv.cuh: a warp's 16 output pixels by 64 or 32 maps, a box, get their bias, what is
// added, and the activation, and leave by way of shared memory.

#ifdef __CUDACC__

#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/gpu_channels/hopper_tile.cuh"
#include "convlab/kernels/gpu_channels/pixel_end.cuh"
#include "convlab/kernels/gpu_channels/quick_activation.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// activated() for many values: one branch for all of them. kQuickly: as quickly_activated().
template <bool kQuickly, int kCount>
__device__ void activate(const Activation& activation, float (&values)[kCount]) {
  const auto each = [&](auto function) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = function(values[i]);
  };
  switch (activation.kind) {
    case ActivationKind::none:
      return;
    case ActivationKind::relu:
      return each([](float value) { return value < 0 ? 0 : value; });
    case ActivationKind::leaky_relu:
      return each([&](float value) { return value < 0 ? activation.alpha * value : value; });
    case ActivationKind::clip:
      return each([&](float value) {
        value = value < activation.alpha ? activation.alpha : value;
        return value > activation.beta ? activation.beta : value;
      });
    case ActivationKind::sigmoid:
      return each([](float value) { return kQuickly ? quick_sigmoid(value) : near_sigmoid(value); });
    case ActivationKind::tanh:
      return each([](float value) { return kQuickly ? 2 * quick_sigmoid(2 * value) - 1 : tanhf(value); });
    case ActivationKind::swish:
      return each([](float value) { return value * (kQuickly ? quick_sigmoid(value) : near_sigmoid(value)); });
    case ActivationKind::hard_swish:
      return each([](float value) { return value * (fminf(fmaxf(value + 3, 0), 6) * (1.0f / 6)); });
  }
}

/// A lane's place in a box, 16 pixels by kMaps maps, whose chunks of 16 bytes are permuted. Of 8 maps a lane has two
/// of pixel lane / 4, and two of that 8 below.
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

  __device__ void put(const float (&sums)[kMaps / 2]) const {
#pragma unroll
    for (int i = 0; i < kMaps / 16; ++i) {
      uint32_t pairs[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const __half2 pair = __floats2half2_rn(sums[8 * i + 2 * j], sums[8 * i + 2 * j + 1]);
        pairs[j] = *reinterpret_cast<const uint32_t*>(&pair);
      }
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

  __device__ void put(const float (&sums)[kMaps / 2]) const {
#pragma unroll
    for (int i = 0; i < kMaps / 4; ++i) {
      *reinterpret_cast<float2*>(__cvta_shared_to_generic(pair_at(i))) = {sums[2 * i], sums[2 * i + 1]};
    }
  }

 private:
  /// Of pair i, of maps i / 2 * 8 on and of the upper or the lower pixel.
  __device__ SharedAddress pair_at(int i) const {
    const int lane = threadIdx.x % 32, chunk = i / 2 * 2 + lane % 4 / 2;
    return row_ + i % 2 * (8 * kMaps * 4) + (chunk ^ lane / 4) * 16 + lane % 2 * 8;
  }

  SharedAddress row_;
};

/// One warp's way of writing its tiles.
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

  /// Has what is added to a box copied to its place, once the results that were there have left.
  __device__ void fetch(int row, int map, int box) {
    uint64_t* const barrier = shared.added + warp * Tile::kBoxes + box % Tile::kBoxes;
    barrier_arrive_expecting(barrier, Tile::kBox);
    fetch_rows(shared.box(warp, box % Tile::kBoxes), added, box_map(map, box), box_row(row, box), barrier);
  }

  /// Begins a tile, before its sums are there; `row` is the warp's first.
  __device__ void begin(int row, int map) {
    if (conv.added == nullptr || threadIdx.x % 32 != 0) return;
    await_stores<0>();
#pragma unroll
    for (int box = 0; box < Tile::kBoxes; ++box) fetch(row, map, box);
  }

  __device__ void write(float (&sums)[Tile::kBlocks][Tile::kMaps / 2], int row, int map) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int box = 0; box < Tile::kBoxesOfTile; ++box) {
      const int slot = box % Tile::kBoxes, first_map = box_map(map, box);
      const BoxPlace<Element, Tile::kBoxMaps> place(shared.box(warp, slot));
      if (conv.added != nullptr) {
        barrier_wait(shared.added + warp * Tile::kBoxes + slot, added_parity);
        if (slot == Tile::kBoxes - 1) added_parity ^= 1;
      } else {
        if (lane == 0) await_stores<Tile::kBoxes - 1>();
        __syncwarp();
      }
      float(&box_sums)[Tile::kBoxMaps / 2] = *reinterpret_cast<float(*)[Tile::kBoxMaps / 2]>(
          &sums[box / Tile::kBoxColumns][box % Tile::kBoxColumns * (Tile::kBoxMaps / 2)]);
      if (conv.bias != nullptr) {
#pragma unroll
        for (int i = 0; i < Tile::kBoxMaps / 8; ++i) {
          const int at = first_map + 8 * i + lane % 4 * 2;
          const float2 bias = at < conv.shape.k ? __ldg(reinterpret_cast<const float2*>(conv.bias + at)) : float2{0, 0};
          box_sums[4 * i] += bias.x;
          box_sums[4 * i + 1] += bias.y;
          box_sums[4 * i + 2] += bias.x;
          box_sums[4 * i + 3] += bias.y;
        }
      }
      if (conv.added != nullptr) place.add_to(box_sums);
      activate<!Tile::Terms::kSplit>(conv.activation, box_sums);
      place.put(box_sums);
      fence_for_async();
      __syncwarp();
      if (lane == 0) {
        store_rows(y, first_map, box_row(row, box), shared.box(warp, slot));
        if (conv.added != nullptr && box + Tile::kBoxes < Tile::kBoxesOfTile) {
          await_stores<0>();
          fetch(row, map, box + Tile::kBoxes);
        }
      }
    }
  }
};

/// Leaves a warpgroup's sums, from row `row` of the tile on, in shared memory.
template <class Tile>
__device__ void leave_sums(const PixelShared<Tile>& shared, const float (&sums)[Tile::kBlocks][Tile::kMaps / 2],
                           int row) {
  auto* const part = reinterpret_cast<float*>(shared.stages);
  const int thread = threadIdx.x % 128, first = row + thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) {
#pragma unroll
    for (int i = 0; i < Tile::kMaps / 4; ++i) {
      float* const to = part + (first + 64 * block + i % 2 * 8) * Tile::kPartPitch + i / 2 * 8 + thread % 4 * 2;
      *reinterpret_cast<float2*>(to) = {sums[block][2 * i], sums[block][2 * i + 1]};
    }
  }
}

/// Adds up the parts that the cluster's blocks have left; each block finishes some of the tile's pixels, and begins with its
/// own part, so that not all read the same one. Arrives at the cluster's barrier when it has read all.
template <class Tile>
__device__ void add_parts(const PixelShared<Tile>& shared, const PixelConvOf<typename Tile::Element>& conv,
                          const TilePlace<Tile>& place, int rank) {
  constexpr int kChunks = Tile::kMaps / 8, kEach = Tile::kRows * kChunks / Tile::kParts;
  constexpr int kTurns = (kEach + Tile::kThreads - 1) / Tile::kThreads;
  const int64_t rows = int64_t{conv.shape.n} * conv.shape.p * conv.shape.q;
  float sums[kTurns][8] = {};
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int i = threadIdx.x + turn * Tile::kThreads, chunk = rank * kEach + i;
    if (i >= kEach) continue;
    const SharedAddress at = to_shared(shared.stages) + (chunk / kChunks * Tile::kPartPitch + chunk % kChunks * 8) *
                                                            static_cast<int>(sizeof(float));
#pragma unroll
    for (int part = 0; part < Tile::kParts; ++part) {
      const SharedAddress from = in_block(at, (rank + part) % Tile::kParts);
#pragma unroll
      for (int j = 0; j < 8; j += 4) {
        float4 some;
        asm volatile("ld.shared::cluster.v4.f32 {%0,%1,%2,%3}, [%4];"
                     : "=f"(some.x), "=f"(some.y), "=f"(some.z), "=f"(some.w)
                     : "r"(from + j * 4));
        sums[turn][j] += some.x;
        sums[turn][j + 1] += some.y;
        sums[turn][j + 2] += some.z;
        sums[turn][j + 3] += some.w;
      }
    }
  }
  arrive_at_cluster();
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const int i = threadIdx.x + turn * Tile::kThreads, chunk = rank * kEach + i;
    const int row = place.row + chunk / kChunks, map = place.map + chunk % kChunks * 8;
    if (i < kEach && row < rows && map < conv.shape.k) finish_pixel(conv, sums[turn], row, map);
  }
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
