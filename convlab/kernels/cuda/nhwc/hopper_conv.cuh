#pragma once

// Implicit GEMM convolution in nhwc float16 with Hopper warpgroups (compute capability 9.0). Rows are
// output pixels, columns are output channels, and K is filter taps by channels.
//
//   x, w -> one producer thread: TMA, which finds each tap's pixels (im2col) -> stages of 128 bytes of K
//        -> consumer warpgroups: wgmma -> bias, addend, activation -> boxes in shared memory -> TMA -> y
//
// Blocks are persistent and loop over tiles. While a team of warpgroups runs the epilogue of a tile, TMA loads the
// operands of the next, and another team multiplies. With few tiles, the blocks of a cluster share a tile and split K.

#ifdef __CUDACC__

#include "convlab/kernels/cuda/nhwc/hopper_copies.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_finish.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_multiply.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_split.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Issues the wgmmas of a slice: kSteps steps of kStepTerms K elements. Commits directly after the last wgmma: after a
/// branch, the compiler commits twice, and a wait for all but the last group then waits for all.
template <class Tile, int kTaps, int kSteps>
__device__ void multiply_slice(float (&sums)[Tile::kBlocks][Tile::kMaps / 2], PixelOperand a, PixelOperand b) {
  constexpr int kStepsOfBox = 4 / kTaps, kRow = 128 / kTaps;
#pragma unroll
  for (auto& block : sums) hold(block);
  fence_multiplications();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    const int from = step / kStepsOfBox * (Tile::kRows * kRow / 16) + step % kStepsOfBox * 2;
#pragma unroll
    for (int block = 0; block < Tile::kBlocks; ++block) {
      PixelMultiply<typename Tile::Element, Tile::kMaps>::run(sums[block], a.later(from + block * (64 * kRow / 16)),
                                                              b.later(step * 2), true);
    }
  }
  commit_multiplications();
}

template <class Tile, int kTaps>
__device__ void multiply_slice(float (&sums)[Tile::kBlocks][Tile::kMaps / 2], PixelOperand a, PixelOperand b,
                               int steps) {
  if (steps == 4) return multiply_slice<Tile, kTaps, 4>(sums, a, b);
  if (steps == 3) return multiply_slice<Tile, kTaps, 3>(sums, a, b);
  if (steps == 2) return multiply_slice<Tile, kTaps, 2>(sums, a, b);
  multiply_slice<Tile, kTaps, 1>(sums, a, b);
}

/// Consumer loop over a warpgroup's tiles. `warp`: index in the block, uniform across the warp.
template <class Tile, int kTaps>
__device__ void multiply_tiles(const PixelShared<Tile>& shared, const CUtensorMap& added, const CUtensorMap& y,
                               const PixelPlan<typename Tile::Element>& plan, int warp, int rank) {
  constexpr bool kSplit = Tile::Terms::kSplit;
  const int consumer = warp / 4, team = consumer / Tile::kGroups, group = consumer % Tile::kGroups;
  const PartOfSlices<Tile> part(plan, rank);
  const int clusters = gridDim.x / Tile::kParts;
  BoxWriter<Tile> writer{shared, added, y, plan.conv, warp};
  PixelTurn<Tile::kStages> turn;
  turn.skip(team * plan.slices);
  int turns_parity = team == 0 ? 1 : 0;
  for (int tile = blockIdx.x / Tile::kParts + team * clusters; tile < plan.tiles; tile += Tile::kTeams * clusters) {
    const TilePlace<Tile> place(plan, tile);
    const int row = place.row + group * Tile::kGroupRows + warp % 4 * 16;
    float sums[Tile::kBlocks][Tile::kMaps / 2];
    // Split-K parts and scaled output channels get the bias later.
    const bool begins = Tile::kParts == 1 && !Tile::Terms::kScales;
    begin_with_bias(sums, begins ? plan.conv.bias : nullptr, place.map, plan.conv.shape.k);
#pragma unroll
    for (auto& block : sums) hold(block);
    int before = 0, whole = plan.period - 1 - part.first % plan.period;  // slices until the next partial one
    if constexpr (Tile::kTeams > 1) {
      barrier_wait(shared.turns + team, turns_parity);
      turns_parity ^= 1;
    }
    const SharedAddress group_rows = shared.a(0) + group * Tile::kGroupRows * (128 / kTaps);
    const PixelOperand first_a = pixel_operand<kTaps>(group_rows);
    const PixelOperand first_b = pixel_operand<128 / Tile::Terms::kFilterRow>(shared.b(0));
    const auto of_stage = [&](const PixelOperand& first) { return first.later(turn.stage * (Tile::kStage / 16)); };
    const auto steps_of_slice = [&] {
      const int steps = whole == 0 ? plan.last_steps : 4;
      whole = whole == 0 ? plan.period - 1 : whole - 1;
      return steps;
    };
    if constexpr (kSplit) {
      static_assert(Tile::kBlocks == 1);
      using Rows = SplitRows<typename Tile::Terms>;
      float products[Tile::kMaps / 2];  // of four slices: tensor cores truncate, so FADD adds the slices' sums
      Rows even, odd;
      LargestPixel largest;
      barrier_wait(shared.full + turn.stage, turn.parity);
      even.load(group_rows + turn.stage * Tile::kStage, largest);
      // Multiplies the loaded rows and, meanwhile, loads the next.
      const auto multiply = [&](int slice, Rows& rows, Rows& next, bool add) {
        rows.template multiply<Tile>(products, of_stage(first_b), steps_of_slice(), add);
        if (add) {
          await_multiplications<1>();
          next.hold_all();
          leave_stage(shared.empty + before);
        }
        before = turn.stage;
        turn.next();
        if (slice + 1 == part.last) return;
        barrier_wait(shared.full + turn.stage, turn.parity);
        next.load(group_rows + turn.stage * Tile::kStage, largest);
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
      if constexpr (Tile::Terms::kScales) {
        const int64_t there = Tile::Terms::maps_there(plan.conv.shape.k);
        scale_back(sums[0], largest, igemm_undo<typename Tile::Terms>(plan.conv.w, there, plan.slices) + place.map,
                   plan.conv.shape.k - place.map,
                   [&](auto& plain) { sum_plainly<Tile>(plain, plan, part, row, place.map); });
        if constexpr (Tile::kParts == 1) add_bias(sums[0], plan.conv.bias, place.map, plan.conv.shape.k);
      }
    } else {
      for (int slice = part.first; slice < part.last; ++slice) {
        barrier_wait(shared.full + turn.stage, turn.parity);
        multiply_slice<Tile, kTaps>(sums, of_stage(first_a), of_stage(first_b), steps_of_slice());
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
      for (auto& block : sums) hold(block);
      leave_stage(shared.empty + before);
    }
    turn.skip((Tile::kTeams - 1) * plan.slices);
    if constexpr (Tile::kParts == 1) {
      writer.write(sums, row, place.map);
      // Tells the compiler that all threads have converged here; with fp16, stmatrix does.
      if constexpr (!kIsHalf<typename Tile::Element>) barrier_of_some(1 + consumer, 128);
    } else {
      barrier_of_some(1, 128 * Tile::kConsumers);  // no warp reads the stages anymore
      send_sums<Tile>(shared, sums, group * Tile::kGroupRows, rank);
    }
  }
  if (elected()) await_stores<0>();
}

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

/// kTaps equals plan.taps. The grid has persistent blocks, or a cluster for each tile.
template <class Tile, int kTaps>
__global__ void __launch_bounds__(Tile::kThreads, 1) CONVLAB_CLUSTER(Tile::kParts)
    convolve_pixels(const __grid_constant__ CUtensorMap x, const __grid_constant__ CUtensorMap w,
                    const __grid_constant__ CUtensorMap added, const __grid_constant__ CUtensorMap y,
                    const __grid_constant__ PixelPlan<typename Tile::Element> plan) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const PixelShared<Tile> shared;
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0), warpgroup = warp / 4;
  const int rank = Tile::kParts == 1 ? 0 : rank_in_cluster();
  if (threadIdx.x == 0) {
    prefetch_map(x);
    prefetch_map(w);
    prefetch_map(y);
    if (plan.conv.added != nullptr) prefetch_map(added);
    for (int stage = 0; stage < Tile::kStages; ++stage) {
      barrier_init(shared.full + stage, 1);
      barrier_init(shared.empty + stage, 4 * Tile::kGroups);  // one lane of each warp arrives
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
  if (threadIdx.x == Tile::kThreads - 32) prefetch_share(plan.conv.prefetch);
  __syncthreads();
  if constexpr (Tile::kParts > 1) arrive_with_barriers();
  begin_in_turn();
  if constexpr (Tile::kParts > 1) await_cluster();  // other blocks may send parts from now on
  if (warpgroup == Tile::kConsumers) {
    if constexpr (Tile::kConsumers > 1) leave_registers<Tile::kProducerRegisters>();
    if (warp % 4 == 0) copy_operands<Tile, kTaps>(shared, x, w, plan, rank);
  } else {
    if constexpr (Tile::kConsumers > 1) take_registers<Tile::kConsumerRegisters>();
    multiply_tiles<Tile, kTaps>(shared, added, y, plan, warp, rank);
    if constexpr (Tile::kParts > 1) {
      add_parts<Tile>(shared, plan.conv, TilePlace<Tile>(plan, blockIdx.x / Tile::kParts), rank);
    }
  }
  if constexpr (Tile::kParts > 1) {
    if (warpgroup == Tile::kConsumers) arrive_at_cluster();
    await_cluster();  // this block's parts may still be in flight to other blocks
  }
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
