#pragma once

// An implicit GEMM of Layout::channels_last by warpgroups of Hopper (compute capability 9.0). Rows are output pixels,
// columns are maps, terms are filter taps and their channels.
//
//   x, w -> one thread: the copy engine, which finds each tap's pixels -> stages of 64 terms -> warpgroups: wgmma
//        -> bias, what is added, activation -> boxes in shared memory -> the copy engine -> y
//
// Blocks stay, and go through tiles. While a team of warpgroups finishes a tile, operands of the next are copied, and
// another team multiplies. Where there are few tiles, blocks of a cluster share one, each with a part of its sums.

#ifdef __CUDACC__

#include "convlab/kernels/gpu_channels/hopper_copies.cuh"
#include "convlab/kernels/gpu_channels/hopper_finish.cuh"
#include "convlab/kernels/gpu_channels/hopper_multiply.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Rows of 2 * kChannels bytes in shared memory as an operand; see hopper_maps.cuh.
template <int kChannels>
__device__ uint64_t pixel_operand(SharedAddress rows) {
  constexpr uint64_t kSwizzle = kChannels == 64 ? 1 : kChannels == 32 ? 2 : 3, kEightRows = kChannels * 2 * 8 / 16;
  return kSwizzle << 62 | kEightRows << 32 | uint64_t{1} << 16 | rows >> 4;
}

/// Multiplies a slice: kSteps times 16 terms.
template <class Tile, int kChannels, int kSteps>
__device__ void multiply_slice(float (&sums)[Tile::kBlocks][Tile::kMaps / 2], uint64_t a, uint64_t b, bool add) {
  constexpr int kStepsOfBox = kChannels / 16;
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) hold(sums[block]);
  fence_multiplications();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int from = step / kStepsOfBox * (Tile::kRows * kChannels * 2 / 16) + step % kStepsOfBox * 2;
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      PixelMultiply<Tile::kMaps>::run(sums[block], a + from + block * (64 * kChannels * 2 / 16), b + step * 2,
                                      add || step > 0);
    }
  }
}

template <class Tile, int kChannels>
__device__ void multiply_slice(float (&sums)[Tile::kBlocks][Tile::kMaps / 2], uint64_t a, uint64_t b, bool add,
                               int steps) {
  if (steps == 4) return multiply_slice<Tile, kChannels, 4>(sums, a, b, add);
  if (steps == 3) return multiply_slice<Tile, kChannels, 3>(sums, a, b, add);
  if (steps == 2) return multiply_slice<Tile, kChannels, 2>(sums, a, b, add);
  multiply_slice<Tile, kChannels, 1>(sums, a, b, add);
}

/// A warpgroup's tiles.
template <class Tile, int kChannels>
__device__ void multiply_tiles(const PixelShared<Tile>& shared, const CUtensorMap& added, const CUtensorMap& y,
                               const PixelPlan& plan, int consumer, int rank) {
  const int team = consumer / Tile::kGroups, group = consumer % Tile::kGroups;
  const PartOfSlices<Tile> part(plan, rank);
  const int clusters = gridDim.x / Tile::kParts, warp = threadIdx.x % 128 / 32;
  BoxWriter<Tile> writer{shared, added, y, plan.conv, consumer * 4 + warp};
  PixelTurn<Tile::kStages> turn;
  turn.skip(team * plan.slices);
  int turns_parity = team == 0 ? 1 : 0;
  for (int tile = blockIdx.x / Tile::kParts + team * clusters; tile < plan.tiles; tile += Tile::kTeams * clusters) {
    const TilePlace<Tile> place(plan, tile);
    const int row = place.row + group * Tile::kGroupRows + warp * 16;
    float sums[Tile::kBlocks][Tile::kMaps / 2];
    int before = 0, whole = plan.period - 1 - part.first % plan.period;  // slices until the next shorter one
    if constexpr (Tile::kTeams > 1) {
      barrier_wait(shared.turns + team, turns_parity);
      turns_parity ^= 1;
    }
    for (int slice = part.first; slice < part.last; ++slice, --whole) {
      const int steps = whole == 0 ? plan.last_steps : 4;
      if (whole == 0) whole = plan.period;
      const SharedAddress a = shared.a(turn.stage) + group * Tile::kGroupRows * kChannels * 2;
      barrier_wait(shared.full + turn.stage, turn.parity);
      multiply_slice<Tile, kChannels>(sums, pixel_operand<kChannels>(a), pixel_operand<64>(shared.b(turn.stage)),
                                      slice > part.first, steps);
      commit_multiplications();
      if (slice > part.first) {
        await_multiplications<1>();
        leave_stage(shared.empty + before);
      } else if constexpr (Tile::kParts == 1) {
        writer.begin(row, place.map);
      }
      before = turn.stage;
      turn.next();
    }
    if (Tile::kTeams > 1 && threadIdx.x % 32 == 0) barrier_arrive(shared.turns + (team + 1) % Tile::kTeams);
    await_multiplications();
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) hold(sums[block]);
    leave_stage(shared.empty + before);
    turn.skip((Tile::kTeams - 1) * plan.slices);
    if constexpr (Tile::kParts == 1) {
      writer.write(sums, row, place.map);
    } else {
      barrier_of_some(1, 128 * Tile::kConsumers);  // no one reads stages any more
      leave_sums<Tile>(shared, sums, group * Tile::kGroupRows);
    }
  }
  if (threadIdx.x % 32 == 0) await_stores<0>();
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CONVLAB_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define CONVLAB_CLUSTER(blocks)
#endif

/// kChannels is plan.box. A grid of blocks that stay, or of a cluster for each tile.
template <class Tile, int kChannels>
__global__ void __launch_bounds__(Tile::kThreads, 1) CONVLAB_CLUSTER(Tile::kParts)
    convolve_pixels(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap w,
                    const __grid_constant__ CUtensorMap added, const __grid_constant__ CUtensorMap y,
                    const __grid_constant__ PixelPlan plan) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const PixelShared<Tile> shared;
  const int warpgroup = __shfl_sync(0xffffffffu, threadIdx.x / 128, 0);
  const int rank = Tile::kParts == 1 ? 0 : rank_in_cluster();
  if (threadIdx.x == 0) {
    prefetch_map(x);
    prefetch_map(w);
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      barrier_init(shared.full + stage, 1);
      barrier_init(shared.empty + stage, 4 * Tile::kGroups);  // a lane of each warp
    }
    for (int team = 0; team < Tile::kTeams; ++team) barrier_init(shared.turns + team, 4 * Tile::kGroups);
    for (int box = 0; box < Tile::kWarps * Tile::kBoxes; ++box) barrier_init(shared.added + box, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    fence_for_async();
  }
  Tile::kParts == 1 ? __syncthreads() : synchronize_cluster();
  begin_in_turn();
  if (warpgroup == Tile::kConsumers) {
    if constexpr (Tile::kConsumers > 1) leave_registers<Tile::kProducerRegisters>();
    if (threadIdx.x % 128 == 0) copy_operands<Tile, kChannels>(shared, x, w, plan, rank);
  } else {
    if constexpr (Tile::kConsumers > 1) take_registers<Tile::kConsumerRegisters>();
    multiply_tiles<Tile, kChannels>(shared, added, y, plan, warpgroup, rank);
  }
  if constexpr (Tile::kParts > 1) {
    synchronize_cluster();
    add_parts<Tile>(shared, plan.conv, TilePlace<Tile>(plan, blockIdx.x / Tile::kParts), rank);
    synchronize_cluster();  // others may still read what is ours
  }
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
