// cuda.dense_3xfp16: dense layer of fp32-class accuracy on tensor cores, of row-major fp32 arrays.
//
// Operands are split in two fp16 parts, x = X + x'; the kernel sums X W, X w' and x' W. Each 32 K elements of a row of
// A, and each column of B, are scaled by the power of two that brings their largest into [2^14, 2^15). So a value keeps
// 22 bits down to 2^-18 of the largest, and below that has an error of at most 2^-40 of the largest. Tensor cores sum
// 32 K elements from zero, small products first; FFMA adds these sums, because it rounds while tensor cores truncate.
// If values are infinite, NaN, outside 2^-95 .. 2^100, or less than 2^-36 of the largest and not 0, the sums of the row
// or the column become NaN, and the kernel that adds parts computes them again directly.
//
// The product is partitioned as in cut.h, in tiles of up to 128 rows and 160 columns and slices of 32 K elements. On
// Hopper a block is two consumer warpgroups, 64 rows each, and a producer thread that copies A and B: a slice of 128
// rows (16 KiB) and of the columns' large and small parts (20 KiB), in six stages. While a slice is multiplied, with
// A's parts in registers, the next one is split. On other GPUs, and if rows of A are not a multiple of 16 bytes, a warp
// computes 16 rows.
//
// Per row and 160 columns: 960 flops and 4 bytes per K element. Limited on an H200 by the multiplications.

#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/cuda/dense/dense_hopper.cuh"
#include "convlab/kernels/cuda/dense/step.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr int kMostGroups = 2;  // groups of 64 rows per block
constexpr int kSliceTerms = kSliceHalves / 2;

/// Eight K elements of each of two rows, as A fragments of mma_fp16 for two steps, and the inverse scales of the rows,
/// times 2^-15 (see add_parts()).
struct SplitRows {
  uint32_t large[2][4], small[2][4];
  float undo[2];
};

__device__ uint32_t bits_of(__half2 pair) {
  return __half_as_ushort(__low2half(pair)) | uint32_t{__half_as_ushort(__high2half(pair))} << 16;
}

/// Splits 32 K elements of two rows, eight in each of four adjacent lanes: [row][step][4]. Of a step's 16 K elements,
/// lane t has those from 4 t on, which become the elements 2 t, 2 t + 1, 2 t + 8 and 2 t + 9 of the mma.
__device__ __forceinline__ SplitRows split_rows(const float (&term)[2][2][4]) {
  SplitRows split;
#pragma unroll
  for (int row = 0; row < 2; ++row) {
    float largest = 0;
    uint32_t least = 0xffffffff;  // twice the bits, minus 1
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float value = term[row][i / 4][i % 4];
      largest = fmaxf(largest, fabsf(value));
      least = min(least, __float_as_uint(value) * 2 - 1);
    }
#pragma unroll
    for (int lanes = 1; lanes < 4; lanes *= 2) {
      largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, lanes));
      least = min(least, __shfl_xor_sync(0xffffffff, least, lanes));
    }
    const uint32_t bits = __float_as_uint(largest), exponent = bits & ~(kExponentStep - 1);
    const bool held = halves_hold(bits, least / 2);
    const float scale = __uint_as_float(held && bits != 0 ? 268 * kExponentStep - exponent : 127 * kExponentStep);
    split.undo[row] = bits == 0 ? 0 : __uint_as_float(held ? exponent - 29 * kExponentStep : 0x7fc00000);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float first = term[row][i / 2][i % 2 * 2] * scale, second = term[row][i / 2][i % 2 * 2 + 1] * scale;
      const __half2 large = __floats2half2_rn(first, second);
      split.large[i / 2][i % 2 * 2 + row] = bits_of(large);
      split.small[i / 2][i % 2 * 2 + row] =
          bits_of(__floats2half2_rn(first - __low2float(large), second - __high2float(large)));
    }
  }
  return split;
}

#ifdef __CUDACC__

using Stages = DenseStages<2, 1, 6>;
static_assert(Stages::kGroups == kMostGroups);

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Loads a thread's K elements of a slice from shared memory and splits them. `rows`: its first row; the other is 8
/// below.
__device__ __forceinline__ SplitRows load_rows(const unsigned char* rows, int row, int t) {
  float term[2][2][4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float4 four = *reinterpret_cast<const float4*>(rows + i / 2 * (8 * 128) + ((i % 2 * 4 + t) ^ row) * 16);
    term[i / 2][i % 2][0] = four.x;
    term[i / 2][i % 2][1] = four.y;
    term[i / 2][i % 2][2] = four.z;
    term[i / 2][i % 2][3] = four.w;
  }
  return split_rows(term);
}

#endif

__global__ void __launch_bounds__(Stages::kThreads, 1)
    multiply_on_hopper(const __grid_constant__ CUtensorMap a, const __half* packed, float* parts, DenseCut cut) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  const Stages shared;
  begin_stages(shared);
  const int team = blockIdx.x, group = threadIdx.x / 128, thread = threadIdx.x % 128;
  if (group == 2) {
    leave_registers<40>();
    if (thread == 0) fill_stages(shared, a, kSliceTerms, packed, cut, team);
  } else {
    take_registers<232>();
    const int64_t end = cut.begin(team + 1);
    if (group >= cut.groups()) {
      pass_stages(shared, end - cut.begin(team));
      return;
    }
    const int row = mixed_row(thread % 32 / 4), t = thread % 4;
    const int first = (group * kDenseGroupRows + thread / 32 * 16 + row) * 128;
    DenseStretch stretch = stretch_from(cut, cut.begin(team), end);
    int left = static_cast<int>(end - cut.begin(team)), of_stretch = stretch.last - stretch.first;
    float sum[kDenseColumns / 2], of_slice[kDenseColumns / 2];
#pragma unroll
    for (int i = 0; i < kDenseColumns / 2; ++i) sum[i] = 0;
    StageTurn<6> turn;
    SplitRows rows[2];
    barrier_wait(shared.full, 0);
    rows[0] = load_rows(shared.a(0) + first, row, t);
    while (left > 0) {
#pragma unroll
      for (int now = 0; now < 2; ++now) {  // which of `rows`; registers cannot be indexed by a variable
        if (left == 0) break;
        const uint64_t columns = dense_operand(shared.b(turn.stage)), small_columns = columns + 4;
        fence_multiplications();
        multiply_group(of_slice, rows[now].large[0], small_columns, false);
        multiply_group(of_slice, rows[now].small[0], columns, true);
        multiply_group(of_slice, rows[now].large[1], small_columns + 2, true);
        multiply_group(of_slice, rows[now].small[1], columns + 2, true);
        multiply_group(of_slice, rows[now].large[0], columns, true);
        multiply_group(of_slice, rows[now].large[1], columns + 2, true);
        commit_multiplications();
        StageTurn<6> following = turn;
        if (left > 1) following.next();  // otherwise the same stage again, which is not used
        barrier_wait(shared.full + following.stage, following.parity);
        rows[now ^ 1] = load_rows(shared.a(following.stage) + first, row, t);
        await_all_but<0>();
        leave_stage(shared.empty + turn.stage);
        turn = following;
#pragma unroll
        for (int i = 0; i < kDenseColumns / 2; ++i) sum[i] = fmaf(of_slice[i], rows[now].undo[i / 2 % 2], sum[i]);
        --left;
        if (--of_stretch > 0) continue;
        leave_part(sum, cut, cut.part(team, stretch.tile), group, thread, parts);
#pragma unroll
        for (int i = 0; i < kDenseColumns / 2; ++i) sum[i] = 0;
        if (left == 0) break;
        stretch = stretch_from(cut, end - left, end);
        of_stretch = stretch.last - stretch.first;
      }
    }
  }
#endif
}

#endif  // __CUDACC__

/// The same for other tensor cores and rows of any alignment; a warp computes 16 rows of its group.
__global__ void __launch_bounds__(kMostGroups * 128)
    multiply_by_warps(const float* a, int64_t terms, const __half* packed, float* parts, DenseCut cut) {
  const int team = blockIdx.x, group = threadIdx.x / 128, thread = threadIdx.x % 128;
  const int lane_row = thread % 32 / 4, t = thread % 4, first = threadIdx.x / 32 * 16 + mixed_row(lane_row);
  const int64_t end = cut.begin(team + 1);
  const bool idle = threadIdx.x / 32 * 16 >= cut.tile_rows;  // a warp without rows stores zeros
  for (int64_t step = cut.begin(team); step < end;) {
    const DenseStretch stretch = stretch_from(cut, step, end);
    float sum[kDenseColumns / 2] = {};
    for (int slice = stretch.first; slice < stretch.last && !idle; ++slice) {
      float term[2][2][4];
#pragma unroll
      for (int i = 0; i < 16; ++i) {
        const int in_tile = first + i / 8 * 8;
        const int64_t row = cut.first_row(stretch.tile) + in_tile;
        const int64_t at = int64_t{slice} * kSliceTerms + i / 4 % 2 * 16 + 4 * t + i % 4;
        const bool inside = in_tile < cut.tile_rows && row < cut.rows && at < terms;
        term[i / 8][i / 4 % 2][i % 4] = inside ? a[row * terms + at] : 0;
      }
      const SplitRows rows = split_rows(term);
      const __half* b = packed + (int64_t{stretch.tile % cut.column_tiles} * cut.slices + slice) * kSliceElements;
#pragma unroll
      for (int j = 0; j < kDenseColumns / 8; ++j) {
        uint32_t column[4][2];  // two steps of large parts, two of small ones
        for (int i = 0; i < 8; ++i) {
          const int chunk = i ^ lane_row;  // lane_row is also the column's index in its group of eight
          column[i / 2][i % 2] =
              *reinterpret_cast<const uint32_t*>(b + (j * 8 + lane_row) * kSliceHalves + chunk * 8 + 2 * t);
        }
        float of_slice[4] = {};
        mma_fp16(of_slice, rows.large[0], column[2], of_slice);
        mma_fp16(of_slice, rows.small[0], column[0], of_slice);
        mma_fp16(of_slice, rows.large[1], column[3], of_slice);
        mma_fp16(of_slice, rows.small[1], column[1], of_slice);
        mma_fp16(of_slice, rows.large[0], column[0], of_slice);
        mma_fp16(of_slice, rows.large[1], column[1], of_slice);
        for (int i = 0; i < 4; ++i) sum[4 * j + i] = fmaf(of_slice[i], rows.undo[i / 2], sum[4 * j + i]);
      }
    }
    leave_part(sum, cut, cut.part(team, stretch.tile), group, thread, parts);
    step += stretch.last - stretch.first;
  }
}

PackedWeights packed_of(const Step& step) { return {step, ceil_div(terms_of(step), kSliceTerms)}; }

DenseCut cut_of(const Step& step) {
  constexpr int kStepCycles = 480;  // six wgmmas of 64 rows
  return cut_dense(step.outputs[0].shape[0], step.outputs[0].shape[1], static_cast<int>(packed_of(step).slices),
                   kMostGroups, kStepCycles);
}

Refusal refuses(const Step& step, const DeviceCaps&) { return refuse_unless_packable(step); }

size_t prepared_bytes(const Step& step, const DeviceCaps&) { return packed_of(step).bytes(); }
size_t workspace_bytes(const Step& step, const DeviceCaps&) { return parts_bytes(cut_of(step)); }

void prepare(const Args& args, Stream& stream) {
  packed_of(args.step).pack<true>(args, TermOrder{.terms = terms_of(args.step)}, stream);
}

void launch_dense(const Args& args, Stream& stream) {
  const PackedWeights weights = packed_of(args.step);
  const DenseCut cut = cut_of(args.step);
  const float* a = args.input(0);
  auto* parts = static_cast<float*>(args.workspace);
  const int64_t terms = terms_of(args.step);
#ifdef __CUDACC__
  const bool copied = terms % 4 == 0 && reinterpret_cast<uintptr_t>(a) % 16 == 0;
  if (copied && runs_on_hopper(stream.caps())) {
    const CUtensorMap matrix =
        describe_matrix(a, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, cut.rows, terms, terms * 4, cut.tile_rows);
    launch(multiply_on_hopper, {.grid = cut.teams, .block = Stages::kThreads, .shared_bytes = Stages::kBytes},
           stream.native(), matrix, weights.packed(args), parts, cut);
    finish_dense<true>(args, cut, weights.undo(args), stream);
    return;
  }
#endif
  launch(multiply_by_warps, {.grid = cut.teams, .block = cut.groups() * 128}, stream.native(), a, terms,
         weights.packed(args), parts, cut);
  finish_dense<true>(args, cut, weights.undo(args), stream);
}

const RegisterKernel registered{{
    .info = {.name = "cuda.dense_3xfp16",
             .device = kCompiledFor,
             .family = Family::dense,
             .sum = Sum::split,
             .idea =
                 "dense layer on tensor cores with fp32-class accuracy: operands split in two fp16, three products"},
    .refuses = refuses,
    .prepared_bytes = prepared_bytes,
    .workspace_bytes = workspace_bytes,
    .prepare = prepare,
    .launch = launch_dense,
    .fuses_activation = true,
}};

}  // namespace
}  // namespace convlab
