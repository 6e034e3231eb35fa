#pragma once

// An implicit GEMM of Layout::channels_last by warpgroups of Hopper (compute
// capability 9.0). Rows are output pixels, columns are maps, terms are filter
// taps and their channels.
//
//   x, w -> one thread: the copy engine, which finds each tap's pixels -> stages of 128 bytes of terms -> warpgroups: wgmma
//        -> bias, what is added, activation -> boxes in shared memory -> the copy engine -> y
//
// Blocks stay, and go through tiles. While a team of warpgroups finishes a
// tile, operands of the next are copied, and another team multiplies. Where
// there are few tiles, blocks of a cluster share one, each with a part of its
// sums.

#ifdef __CUDACC__

#include "convlab/kernels/gpu_channels/hopper_copies.cuh"
#include "convlab/kernels/gpu_channels/hopper_finish.cuh"
#include "convlab/kernels/gpu_channels/hopper_multiply.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Multiplies a slice: kSteps times kStepTerms.
template <class Tile, int kTaps, int kSteps>
__device__ void multiply_slice(float (&sums)[Tile::kBlocks][Tile::kMaps / 2], uint64_t a, uint64_t b, bool add) {
  constexpr int kStepsOfBox = 4 / kTaps, kRow = 128 / kTaps;
#pragma unroll
  for (int block = 0; block < Tile::kBlocks; ++block) hold(sums[block]);
  fence_multiplications();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int from = step / kStepsOfBox * (Tile::kRows * kRow / 16) + step % kStepsOfBox * 2;
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      PixelMultiply<typename Tile::Element, Tile::kMaps>::run(sums[block], a + from + block * (64 * kRow / 16),
                                                              b + step * 2, add || step > 0);
    }
  }
}

template <class Tile, int kTaps>
__device__ void multiply_slice(float (&sums)[Tile::kBlocks][Tile::kMaps / 2], uint64_t a, uint64_t b, bool add,
                               int steps) {
  if (steps == 4) return multiply_slice<Tile, kTaps, 4>(sums, a, b, add);
  if (steps == 3) return multiply_slice<Tile, kTaps, 3>(sums, a, b, add);
  if (steps == 2) return multiply_slice<Tile, kTaps, 2>(sums, a, b, add);
  multiply_slice<Tile, kTaps, 1>(sums, a, b, add);
}

/// A warp's 16 pixels of a stage, split in registers, as PixelMultiply takes them.
class SplitRows {
 public:
  __device__ void load(SharedAddress a) {
    const int lane = threadIdx.x % 32, row = threadIdx.x % 128 / 32 * 16 + lane % 16;
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      load_matrices(large_[step], a + row * 128 + ((2 * step + lane / 16) ^ row % 8) * 16);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const SplitTf32 split(__uint_as_float(large_[step][i]));
        large_[step][i] = split.large;
        rest_[step][i] = split.rest;
      }
    }
  }

  /// Begins products = these rows times a stage's maps, of some steps, or adds these; what maps lack lies behind them.
  template <class Tile>
  __device__ void multiply(float (&products)[Tile::kMaps / 2], SharedAddress b, int steps, bool add) const {
    hold(products);
    fence_multiplications();
    steps > 2 ? multiply_steps<Tile, kSteps>(products, b, add) : multiply_steps<Tile, 2>(products, b, add);
    commit_multiplications();
  }

  /// Has the registers stay what they are until here.
  __device__ void hold_all() {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
#pragma unroll
      for (int i = 0; i < 4; ++i) asm volatile("" : "+r"(large_[step][i]), "+r"(rest_[step][i])::"memory");
    }
  }

 private:
  static constexpr int kSteps = 4;

  template <class Tile, int kCount>
  __device__ void multiply_steps(float (&products)[Tile::kMaps / 2], SharedAddress b, bool add) const {
    using Multiply = PixelMultiply<float, Tile::kMaps>;
#pragma unroll
    for (int step = 0; step < kCount; ++step) {
      const uint64_t maps = pixel_operand<1>(b) + step * 2, maps_rest = maps + Tile::kMapBytes / 16;
      Multiply::run(products, rest_[step], maps, add || step > 0);
      Multiply::run(products, large_[step], maps_rest, true);
      Multiply::run(products, large_[step], maps, true);
    }
  }

  uint32_t large_[kSteps][4], rest_[kSteps][4];
};

/// A warpgroup's tiles.
template <class Tile, int kTaps>
__device__ void multiply_tiles(const PixelShared<Tile>& shared, const CUtensorMap& added, const CUtensorMap& y,
                               const PixelPlan<typename Tile::Element>& plan, int consumer, int rank) {
  constexpr bool kSplit = Tile::Terms::kSplit;
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
    const auto stage_rows = [&] { return shared.a(turn.stage) + group * Tile::kGroupRows * (128 / kTaps); };
    const auto steps_of_slice = [&] {
      const int steps = whole == 0 ? plan.last_steps : 4;
      whole = whole == 0 ? plan.period - 1 : whole - 1;
      return steps;
    };
    if constexpr (kSplit) {
      static_assert(Tile::kBlocks == 1);
      float products[Tile::kMaps / 2];  // of four slices: tensor cores' sums lose bits, so others add them up
      SplitRows even, odd;
      barrier_wait(shared.full + turn.stage, turn.parity);
      even.load(stage_rows());
#pragma unroll
      for (float& sum : sums[0]) sum = 0;
      // Multiplies rows that are there, and loads the next while they are multiplied.
      const auto multiply = [&](int slice, SplitRows& rows, SplitRows& next, bool add) {
        rows.template multiply<Tile>(products, shared.b(turn.stage), steps_of_slice(), add);
        if (add) {
          await_multiplications<1>();
          next.hold_all();
          leave_stage(shared.empty + before);
        }
        before = turn.stage;
        turn.next();
        if (slice + 1 == part.last) return;
        barrier_wait(shared.full + turn.stage, turn.parity);
        next.load(stage_rows());
      };
      if constexpr (Tile::kParts == 1) writer.begin(row, place.map);
      for (int slice = part.first; slice < part.last; slice += 4) {
        multiply(slice, even, odd, false);
        if (slice + 1 < part.last) multiply(slice + 1, odd, even, true);
        if (slice + 2 < part.last) multiply(slice + 2, even, odd, true);
        if (slice + 3 < part.last) multiply(slice + 3, odd, even, true);
        await_multiplications();
        hold(products);
        even.hold_all();
        odd.hold_all();
        leave_stage(shared.empty + before);
#pragma unroll
        for (int i = 0; i < Tile::kMaps / 2; ++i) sums[0][i] += products[i];
      }
    } else {
      for (int slice = part.first; slice < part.last; ++slice) {
        barrier_wait(shared.full + turn.stage, turn.parity);
        multiply_slice<Tile, kTaps>(sums, pixel_operand<kTaps>(stage_rows()), pixel_operand<1>(shared.b(turn.stage)),
                                    slice > part.first, steps_of_slice());
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
    }
    if (Tile::kTeams > 1 && threadIdx.x % 32 == 0) barrier_arrive(shared.turns + (team + 1) % Tile::kTeams);
    if constexpr (!kSplit) {
      await_multiplications();
#pragma unroll
      for (int block = 0; block < Tile::kBlocks; ++block) hold(sums[block]);
      leave_stage(shared.empty + before);
    }
    turn.skip((Tile::kTeams - 1) * plan.slices);
    if constexpr (Tile::kParts == 1) {
      writer.write(sums, row, place.map);
      // Of halves, stmatrix says so: that all threads are here, where the compiler must know it.
      if constexpr (!kIsHalf<typename Tile::Element>) barrier_of_some(1 + consumer, 128);
    } else {
      barrier_of_some(1, 128 * Tile::kConsumers);  // no one reads stages any more
      send_sums<Tile>(shared, sums, group * Tile::kGroupRows, rank);
    }
  }
  if (threadIdx.x % 32 == 0) await_stores<0>();
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// kTaps is plan.taps. A grid of blocks that stay, or of a cluster for each tile.
template <class Tile, int kTaps>
__global__ void __launch_bounds__(Tile::kThreads, 1) CONVLAB_CLUSTER(Tile::kParts)
    convolve_pixels(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap w,
                    const __grid_constant__ CUtensorMap added, const __grid_constant__ CUtensorMap y,
                    const __grid_constant__ PixelPlan<typename Tile::Element> plan) {
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
    if constexpr (Tile::kParts > 1) {
      barrier_init(shared.parts, 1);
      barrier_arrive_expecting(shared.parts, Tile::kResults);
      publish_barriers();
    }
    fence_for_async();
  }
  if (threadIdx.x == Tile::kThreads - 32) fetch_soon(plan.conv.soon);
  __syncthreads();
  if constexpr (Tile::kParts > 1) arrive_with_barriers();
  begin_in_turn();
  if constexpr (Tile::kParts > 1) await_cluster();  // others may send parts from now on
  if (warpgroup == Tile::kConsumers) {
    if constexpr (Tile::kConsumers > 1) leave_registers<Tile::kProducerRegisters>();
    if (threadIdx.x % 128 == 0) copy_operands<Tile, kTaps>(shared, x, w, plan, rank);
  } else {
    if constexpr (Tile::kConsumers > 1) take_registers<Tile::kConsumerRegisters>();
    multiply_tiles<Tile, kTaps>(shared, added, y, plan, warpgroup, rank);
    if constexpr (Tile::kParts > 1) {
      add_parts<Tile>(shared, plan.conv, TilePlace<Tile>(plan, blockIdx.x / Tile::kParts), rank);
    }
  }
  if constexpr (Tile::kParts > 1) {
    if (warpgroup == Tile::kConsumers) arrive_at_cluster();
    await_cluster();  // what is ours may still be on its way to others
  }
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
