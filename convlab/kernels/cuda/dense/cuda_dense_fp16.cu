// cuda.dense_fp16: dense layer on tensor cores, of the output of a convolution in fp16 nchw8c float16.
//
// A has a row per image. B, the weights, is packed once: in that layout's order of an image's elements, each column
// scaled by a power of two so that its weights are normal fp16 numbers. The product is partitioned as in cut.h into
// tiles of up to 256 rows and 160 columns and into slices of 64 K elements. Blocks store their partial sums, in fp32,
// in the workspace; a second kernel adds them in a fixed order, adds the bias and applies the activation.
//
// On Hopper a block is two consumer warpgroups, 128 rows each, and a producer thread that copies A and B: a slice of
// 256 rows (32 KiB) and of the columns (20 KiB), in four stages. On other GPUs a warp computes 16 rows, from global
// memory.
//
// Per row and 160 columns: 320 flops and 2 bytes per K element; B, of all columns, is read once per tile, from L2.
// Limited on an H200 by reading A.

#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/cuda/dense/dense_hopper.cuh"
#include "convlab/kernels/cuda/dense/step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kMostGroups = 4;  // groups of 64 rows per block

#ifdef __CUDACC__

using Stages = DenseStages<2, 2, 4>;
static_assert(Stages::kGroups == kMostGroups);

__global__ void __launch_bounds__(Stages::kThreads, 1)
    multiply_on_hopper(const __grid_constant__ CUtensorMap a, const __half* packed, float* parts, DenseCut cut) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const Stages shared;
  begin_stages(shared);
  const int team = blockIdx.x, warpgroup = threadIdx.x / 128, thread = threadIdx.x % 128;
  if (warpgroup == 2) {
    leave_registers<40>();
    if (thread == 0) fill_stages(shared, a, kSliceHalves, packed, cut, team);
  } else {
    take_registers<232>();
    const int64_t end = cut.begin(team + 1);
    if (warpgroup * 2 >= cut.groups()) {
      pass_stages(shared, end - cut.begin(team));
      return;
    }
    StageTurn<4> turn;
    for (int64_t step = cut.begin(team); step < end;) {
      const DenseStretch stretch = stretch_from(cut, step, end);
      float sum[2][kDenseColumns / 2];
      int before = -1;  // the stage that wgmmas may still be reading
      for (int slice = stretch.first; slice < stretch.last; ++slice) {
        barrier_wait(shared.full + turn.stage, turn.parity);
        const uint64_t rows = dense_operand(shared.a(turn.stage) + warpgroup * (2 * kDenseGroupRows * 128));
        const uint64_t columns = dense_operand(shared.b(turn.stage));
        fence_multiplications();
#pragma unroll
        for (int k = 0; k < 4; ++k) {
          multiply_group(sum[0], rows + 2 * k, columns + 2 * k, slice > stretch.first || k > 0);
          multiply_group(sum[1], rows + 512 + 2 * k, columns + 2 * k, slice > stretch.first || k > 0);
        }
        commit_multiplications();
        await_all_but<1>();
        if (before >= 0) leave_stage(shared.empty + before);
        before = turn.stage;
        turn.next();
      }
      await_all_but<0>();
      leave_stage(shared.empty + before);
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int group = warpgroup * 2 + i;
        if (group < cut.groups()) leave_part(sum[i], cut, cut.part(team, stretch.tile), group, thread, parts);
      }
      step += stretch.last - stretch.first;
    }
  }
#endif
}

#endif  // __CUDACC__

/// The same for other tensor cores; a warp computes 16 rows of its group.
__global__ void __launch_bounds__(kMostGroups * 128)
    multiply_by_warps(const __half* a, int64_t stride, const __half* packed, float* parts, DenseCut cut) {
  const int team = blockIdx.x, group = threadIdx.x / 128, thread = threadIdx.x % 128;
  const int lane_row = thread % 32 / 4, t = thread % 4, first = threadIdx.x / 32 * 16 + lane_row;
  const int64_t end = cut.begin(team + 1);
  const bool idle = threadIdx.x / 32 * 16 >= cut.tile_rows;  // a warp without rows stores zeros
  for (int64_t step = cut.begin(team); step < end;) {
    const DenseStretch stretch = stretch_from(cut, step, end);
    const __half* row[2];
    bool inside[2];
    for (int i = 0; i < 2; ++i) {
      const int64_t at = cut.first_row(stretch.tile) + first + 8 * i;
      inside[i] = first + 8 * i < cut.tile_rows && at < cut.rows;
      row[i] = a + (inside[i] ? at * stride : 0);
    }
    float sum[kDenseColumns / 2] = {};
    for (int slice = stretch.first; slice < stretch.last && !idle; ++slice) {
      const __half* b = packed + (int64_t{stretch.tile % cut.column_tiles} * cut.slices + slice) * kSliceElements;
      for (int k = 0; k < kSliceHalves; k += 16) {
        uint32_t words[4];
        for (int i = 0; i < 4; ++i) {
          const int term = slice * kSliceHalves + k + i / 2 * 8 + 2 * t;
          words[i] = inside[i % 2] ? *reinterpret_cast<const uint32_t*>(row[i % 2] + term) : 0;
        }
#pragma unroll
        for (int j = 0; j < kDenseColumns / 8; ++j) {
          uint32_t column[2];
          for (int i = 0; i < 2; ++i) {
            const int chunk = (k / 8 + i) ^ lane_row;  // lane_row is also the column's index in its group of eight
            column[i] = *reinterpret_cast<const uint32_t*>(b + (j * 8 + lane_row) * kSliceHalves + chunk * 8 + 2 * t);
          }
          auto& of_columns = reinterpret_cast<float(&)[4]>(sum[4 * j]);
          mma_fp16(of_columns, words, column, of_columns);
        }
      }
    }
    leave_part(sum, cut, cut.part(team, stretch.tile), group, thread, parts);
    step += stretch.last - stretch.first;
  }
}

int64_t stride_of(const Step& step) {
  return element_count(step.inputs[0].written, kNchw8cF16) / step.inputs[0].written[0];
}

TermOrder order_of(const Step& step) {
  return {.terms = terms_of(step),
          .channels = step.inputs[0].written[1],
          .plane = terms_of(step) / std::max<int64_t>(step.inputs[0].written[1], 1)};
}

PackedWeights packed_of(const Step& step) { return {step, stride_of(step) / kSliceHalves}; }

DenseCut cut_of(const Step& step) {
  constexpr int kStepCycles = 320;  // four wgmmas of 64 rows
  return cut_dense(step.outputs[0].shape[0], step.outputs[0].shape[1], static_cast<int>(packed_of(step).slices),
                   kMostGroups, kStepCycles);
}

Refusal refuses(const Step& step, const DeviceCaps&) {
  if (const Refusal refusal = refuse_unless_packable(step)) return refusal;
  if (step.inputs[0].format != kNchw8cF16 || step.outputs[0].format.order != Order::nchw) {
    return "input must be nchw8c float16 and output row-major";
  }
  return std::nullopt;
}

size_t prepared_bytes(const Step& step, const DeviceCaps&) { return packed_of(step).bytes(); }
size_t workspace_bytes(const Step& step, const DeviceCaps&) { return parts_bytes(cut_of(step)); }

void prepare(const Args& args, Stream& stream) { packed_of(args.step).pack<false>(args, order_of(args.step), stream); }

void launch_dense(const Args& args, Stream& stream) {
  const PackedWeights weights = packed_of(args.step);
  const DenseCut cut = cut_of(args.step);
  const auto* a = args.input<__half>(0);
  auto* parts = static_cast<float*>(args.workspace);
  const int64_t stride = stride_of(args.step);
#ifdef __CUDACC__
  if (runs_on_hopper(stream.caps())) {
    const CUtensorMap matrix =
        describe_matrix(a, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, cut.rows, stride, stride * 2, cut.tile_rows);
    launch(multiply_on_hopper, {.grid = cut.teams, .block = Stages::kThreads, .shared_bytes = Stages::kBytes},
           stream.native(), matrix, weights.packed(args), parts, cut);
    finish_dense<false>(args, cut, weights.undo(args), stream);
    return;
  }
#endif
  launch(multiply_by_warps, {.grid = cut.teams, .block = cut.groups() * 128}, stream.native(), a, stride,
         weights.packed(args), parts, cut);
  finish_dense<false>(args, cut, weights.undo(args), stream);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.dense_fp16",
             .device = kCompiledFor,
             .family = Family::dense,
             .math = Math::fp16,
             .idea = "dense layer on tensor cores that reads a convolution's fp16 nchw8c output in place"},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = launch_dense,
    .format = kNchw8cF16,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab
