// cuda.nchw_hopper_3xfp16: the production kernel for fp32-class convolution over several channels, for compute
// capability 9.0.
//
// Arithmetic: as in cuda.tensor_core_3xfp16. A pixel is x = X + x' / 2048. A filter, scaled by a power of two so that
// the largest weight of its output channel is near 2^15, is w = W + w'. All four are fp16; the sum is W X + w' X + (W /
// 2048) x', in fp32. Tensor cores truncate where FADD rounds, so they accumulate one filter row, and FADD adds the
// rows. An image whose pixels reach 65504, are NaN, or are all below 2^-12, is marked, and a second launch computes it
// by direct summation.
//
// A block has one chunk of 16 or 24 output channels and loops over images. It has two rings of staged rows of pixels;
// each ring belongs to a producer warpgroup and a consumer warpgroup:
//
//   x -> producers: load, split -> ring: 4 stages of rows -> consumers: wgmma, add rows -> two buffers -> y
//
// Staged rows. A slot of 16 bytes is 8 channels of a pixel. Slots of adjacent pixels are contiguous, and planes of
// slots have the channels 0-7, 8-15, ..., first the large parts, then the small ones. If at most 4 channels are left,
// the last plane's slots have them for a pixel and its right neighbor. So 8 rows of a wgmma's A by 8 K elements are 128
// contiguous bytes wherever they begin: tap s of a filter is the same operand 16 s bytes further, and no pixel is
// copied. Images are side by side in a row, so that its 64 outputs may, for example, be from two images of 33x33;
// outputs that would cross a border are not stored. Rows of more than 64 outputs are split into tiles. Padding is
// staged as zeros.
//
// Products. A staged row, 64 outputs wide, is multiplied by all filter rows r at once: the columns of a wgmma are (r,
// output channel), for example 5 x 24 = 120. The product of row h with filter row r belongs to output row h - r: a
// thread adds it to the sum that row h - 1 left for r - 1. So sums advance by one r with each row of pixels, without
// extra instructions, and are complete at the last r. Each staged row is thus read once, for any filter height. The
// first and last rows of an image need only half of the filter rows, and are multiplied by no more.
//
// Stores. While a row is multiplied, the outputs that the previous row completed pass through shared memory, so that a
// warp writes up to 32 adjacent outputs of an output channel at once.

#include <optional>

#include <fmt/core.h>

#include "convlab/kernels/conv_shape.h"
#include "convlab/kernels/cuda/nchw_hopper/split_filters.cuh"
#include "convlab/kernels/cuda/nchw_hopper/split_sums.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.nchw_hopper_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = kProductionRung,
    .idea = "warpgroups multiply rows of pixels by all rows of the filters at once",
    .after = "cuda.tensor_core_3xfp16",
    .threads =
        "Two warpgroups load and split rows of pixels, each for one warpgroup that multiplies them; see the picture "
        "above.",
    .cost = "6 * C * R * S flops, as in cuda.tensor_core_3xfp16.",
    .refuses = "Fused epilogues, uint8 input, strides, dilation, groups, and GPUs other than compute capability 9.0.",
    .limit =
        "No single unit: on an H200 with 12 channels of 33x33 and 24 filters of 5x5, removing the loads, the splitting "
        "or the stores gains 5 to 13 %, and the tensor cores are busy for 60 % of the time.",
};

/// kSteps equals plan.steps, or is 0 for any number of steps and channels.
template <int kFilterRows, int kMaps, int kSteps>
__global__ void __launch_bounds__(kSplitThreads, 1)
    convolve_hopper(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y,
                    uint32_t* __restrict__ marks, const unsigned char* __restrict__ prepared,
                    const __grid_constant__ SplitPlan plan) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  constexpr int kBarriersOfRing = 2 * kSplitStages, kWordsOfRing = kSplitStages * kSplitProducers / 32;
  unsigned char* const shared = dynamic_shared<unsigned char>();
  auto* const barriers = reinterpret_cast<uint64_t*>(shared);
  uint64_t* const filters_there = barriers + kSplitRings * kBarriersOfRing;
  auto* const ranges = reinterpret_cast<uint32_t*>(shared + 512);
  auto* const biases = reinterpret_cast<float*>(shared + 640);
  auto* const scales = reinterpret_cast<float*>(shared + 768);
  unsigned char* const filters = shared + kSplitBarrierBytes;
  unsigned char* const stages = filters + plan.filter_bytes;
  auto* const results = reinterpret_cast<float*>(stages + kSplitRings * kSplitStages * plan.stage_bytes);

  const int thread = threadIdx.x, chunk = blockIdx.y;
  const int warpgroup = __shfl_sync(0xffffffffu, thread / 128, 0), which = warpgroup % kSplitRings;
  const Ring ring{.stages = stages + which * kSplitStages * plan.stage_bytes,
                  .full = barriers + which * kBarriersOfRing,
                  .empty = barriers + which * kBarriersOfRing + kSplitStages,
                  .ranges = ranges + which * kWordsOfRing};
  if (thread == 0) {
    for (int i = 0; i < kSplitRings * kBarriersOfRing; ++i) barrier_init(barriers + i, 4);  // one arrival per warp
    barrier_init(filters_there, 1);
  }
  // Slots that are never filled are multiplied, too, for outputs that do not exist.
  for (int i = thread * 16; i < kSplitRings * kSplitStages * plan.stage_bytes; i += kSplitThreads * 16) {
    *reinterpret_cast<uint4*>(stages + i) = {0, 0, 0, 0};
  }
  if (thread < kMaps) {
    const int map = chunk * kMaps + thread;
    biases[thread] = bias && map < plan.k ? bias[map] : 0;
    scales[thread] = reinterpret_cast<const float*>(prepared + kSplitHeaderBytes)[map];
  }
  fence_for_async();
  __syncthreads();

  const int first = blockIdx.x * kSplitRings + which, step = gridDim.x * kSplitRings;
  constexpr int kConsumerRegisters = kFilterRows * kMaps > 120 ? 200 : 168;
  if (warpgroup >= kSplitRings) {
    leave_registers<256 - kConsumerRegisters>();
    produce<split_slots_of_thread(kFilterRows), (kSteps > 0)>(x, plan, ring, first, step);
  } else {
    take_registers<kConsumerRegisters>();
    if (thread == 0) {
      barrier_arrive_expecting(filters_there, plan.filter_bytes);
      fetch_bulk(to_shared(filters), prepared + split_filters_offset(plan) + int64_t{chunk} * plan.filter_bytes,
                 plan.filter_bytes, filters_there);
    }
    barrier_wait(filters_there, 0);
    Consumer<kFilterRows, kMaps, kSteps> consumer{.y = y,
                                                  .marks = marks,
                                                  .plan = plan,
                                                  .ring = ring,
                                                  .biases = biases,
                                                  .scales = scales,
                                                  .results = results + which * 2 * kMaps * kSplitResultPitch,
                                                  .chunk = chunk,
                                                  .barrier = 1 + which};
    consumer.run(operand_descriptor(to_shared(filters), 128, 256), first, step);
  }
#endif
}

Refusal refuses(const ConvStep& step, const DeviceCaps& caps) {
  ConvStep plain = step;
  plain.epilogue.bias = false;
  if (Refusal refusal = refuse_unless_dense(plain)) return refusal;
  const ConvProblem& problem = step.problem;
  if (caps.compute_capability != 90) return "compute capability 9.0 is required";
  if (problem.c < 4) return "at least 4 input channels are required: with fewer, most products are wasted";
  if (problem.r < 2 || problem.r > 7) return "filter height must be between 2 and 7";
  constexpr int64_t kMostColumns = 32;
  if (problem.s > kMostColumns) return fmt::format("filter width must be at most {}", kMostColumns);
  constexpr int64_t kMost = int64_t{1} << 27;  // kSplitImages such images fit in 32 bits
  if (problem.input_count() / problem.n > kMost || problem.output_count() / problem.n > kMost || problem.n > kMost) {
    return fmt::format("an image and the batch must have at most {} elements", kMost);
  }
  const SplitPlan plan = make_split_plan(problem);
  if (plan.steps > kSplitSteps || plan.stage_rows == 0) return "the channels do not fit in shared memory";
  return std::nullopt;
}

size_t prepared_bytes(const ConvStep& step, const DeviceCaps&) {
  const SplitPlan plan = make_split_plan(step.problem);
  return static_cast<size_t>(split_filters_offset(plan) + int64_t{plan.chunks} * plan.filter_bytes);
}

size_t workspace_bytes(const ConvStep& step, const DeviceCaps&) {
  const SplitPlan plan = make_split_plan(step.problem);
  return static_cast<size_t>(int64_t{plan.items()} * plan.images) * sizeof(uint32_t);
}

void prepare(const ConvArgs& args, Stream& stream) {
  launch(pack_split_filters, {.block = 1024}, stream.native(), args.w, static_cast<unsigned char*>(args.prepared),
         make_split_plan(args.step.problem));
}

void launch_hopper(const ConvArgs& args, Stream& stream) {
  const SplitPlan plan = make_split_plan(args.step.problem);
  const int64_t multiprocessors = stream.caps().multiprocessors;
  const int64_t blocks = std::clamp<int64_t>(multiprocessors / plan.chunks, 1, ceil_div(plan.items(), kSplitRings));
  const auto* const x = static_cast<const float*>(args.x);
  auto* const marks = static_cast<uint32_t*>(args.workspace);
  const auto* const prepared = static_cast<const unsigned char*>(args.prepared);
  const auto with = [&](auto kernel) {
    launch(kernel,
           {.grid = {blocks, plan.chunks},
            .block = kSplitThreads,
            .shared_bytes = static_cast<size_t>(plan.shared_bytes())},
           stream.native(), x, args.bias, args.y, marks, prepared, plan);
  };
  const auto with_maps = [&]<int kFilterRows>() {
    if (plan.maps == 16) return with(convolve_hopper<kFilterRows, 16, 0>);
    with(convolve_hopper<kFilterRows, 24, 0>);
  };
  const bool course = plan.quads && plan.maps == 24;  // 12 channels: the steps of its products are unrolled
  if (course && plan.filter_rows == 5 && plan.steps == 4) {
    with(convolve_hopper<5, 24, 4>);
  } else if (course && plan.filter_rows == 7 && plan.steps == 6) {
    with(convolve_hopper<7, 24, 6>);
  } else if (plan.filter_rows == 3) {
    with_maps.template operator()<3>();
  } else if (plan.filter_rows == 5) {
    with_maps.template operator()<5>();
  } else {
    with_maps.template operator()<7>();
  }
  constexpr int64_t kBlocksOfMarked = 8;  // per multiprocessor
  launch(
      convolve_marked,
      {.grid = std::min<int64_t>(multiprocessors * kBlocksOfMarked, int64_t{plan.items()} * plan.images), .block = 256},
      stream.native(), x, args.w, args.bias, args.y, static_cast<const uint32_t*>(marks), prepared, plan);
}

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses>,
    .prepared_bytes = of_conv<prepared_bytes>,
    .workspace_bytes = of_conv<workspace_bytes>,
    .prepare = of_conv<prepare>,
    .launch = of_conv<launch_hopper>,
}};

}  // namespace
}  // namespace convlab
