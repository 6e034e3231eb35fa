#pragma once

// Building blocks of the dense layers on Hopper (compute capability 9.0). A block has some consumer warpgroups, which
// multiply, and a producer thread that copies the next slices of A and B to shared memory, some stages ahead. TMA
// swizzles the rows of A, and the columns of B are packed likewise (see pack_weights): a row or column is 128 bytes,
// its 16-byte chunk c is at c ^ row % 8, and eight of them are 1024 bytes.

#ifdef __CUDACC__

#include <cuda.h>

#include "convlab/device/hopper.cuh"
#include "convlab/kernels/cuda/dense/parts.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(CONVLAB_HOPPER)
#error "device code is compiled for compute capability 9.0a, but host code is not: define CONVLAB_HOPPER"
#endif

/// Returns whether this build has Hopper code and the GPU can run it.
inline bool runs_on_hopper([[maybe_unused]] const DeviceCaps& caps) {
#ifdef CONVLAB_HOPPER
  return caps.compute_capability == 90;
#else
  return false;
#endif
}

/// Returns the TMA descriptor of a matrix that is copied in boxes of 128 bytes by `box_rows` rows, swizzled as above.
/// `stride`: bytes from one row to the next. `stride` and `data` are multiples of 16 bytes.
inline CUtensorMap describe_matrix(const void* data, CUtensorMapDataType type, int element_bytes, int64_t rows,
                                   int64_t columns, int64_t stride, int box_rows) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
             "looking up cuTensorMapEncodeTiled");
  if (found != cudaDriverEntryPointSuccess) {
    throw unavailable("the driver does not export cuTensorMapEncodeTiled; update the driver");
  }
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  const cuuint64_t strides[] = {static_cast<cuuint64_t>(stride)};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(128 / element_bytes), static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  CUtensorMap matrix;
  const CUresult result = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
      &matrix, type, 2, const_cast<void*>(data), sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
      CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    throw unavailable("CUDA error while encoding a TMA descriptor for a {} x {} matrix: {}", rows, columns,
                      static_cast<int>(result));
  }
  return matrix;
}

/// Shared memory of a block: stages, each with a slice of A's rows, 64 per group, and of B's columns.
template <int kWarpgroups, int kGroupsEach, int kStages>
struct DenseStages {
  static constexpr int kGroups = kWarpgroups * kGroupsEach;
  static constexpr int kA = kGroups * kDenseGroupRows * 128, kB = kDenseColumns * 128, kStage = kA + kB;
  static constexpr size_t kBytes = kStages * kStage + 1024 + 2 * kStages * sizeof(uint64_t);
  static constexpr int kThreads = (kWarpgroups + 1) * 128;

  unsigned char* stages;
  uint64_t *full, *empty;

  __device__ DenseStages() {
    auto* memory = dynamic_shared<unsigned char>();
    stages = memory + (1024 - to_shared(memory) % 1024) % 1024;
    full = reinterpret_cast<uint64_t*>(stages + kStages * kStage);
    empty = full + kStages;
  }
  __device__ unsigned char* a(int stage) const { return stages + stage * kStage; }
  __device__ unsigned char* b(int stage) const { return a(stage) + kA; }
};

/// The next stage, and the parity of its barriers.
template <int kStages>
struct StageTurn {
  int stage = 0, parity = 0;

  __device__ void next() {
    if (++stage < kStages) return;
    stage = 0;
    parity ^= 1;
  }
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Copies the box of a matrix at (column, row). Elements outside the matrix become zero. L2 evicts it first, because it
/// is read once.
inline __device__ void copy_box(void* to, const CUtensorMap& matrix, int column, int row, uint64_t* barrier) {
  constexpr uint64_t kEvictFirst = 0x12F0000000000000;
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to_shared(to)),
      "l"(&matrix), "r"(to_shared(barrier)), "r"(column), "r"(row), "l"(kEvictFirst)
      : "memory");
}

template <int kWarpgroups, int kGroupsEach, int kStages>
__device__ void begin_stages(const DenseStages<kWarpgroups, kGroupsEach, kStages>& shared) {
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      barrier_init(shared.full + stage, 1);
      barrier_init(shared.empty + stage, 4 * kWarpgroups);  // one lane of each warp arrives
    }
    fence_for_async();
  }
  __syncthreads();
}

/// The producer thread: fills the stages for all of the team's work. A slice of a row of A is 128 bytes, `a_columns`
/// elements.
template <int kWarpgroups, int kGroupsEach, int kStages>
__device__ void fill_stages(const DenseStages<kWarpgroups, kGroupsEach, kStages>& shared, const CUtensorMap& a,
                            int a_columns, const __half* packed, const DenseCut& cut, int team) {
  const int64_t end = cut.begin(team + 1);
  const int bytes = cut.tile_rows * 128 + shared.kB;
  StageTurn<kStages> turn;
  for (int64_t step = cut.begin(team); step < end;) {
    const DenseStretch stretch = stretch_from(cut, step, end);
    const int row = static_cast<int>(cut.first_row(stretch.tile));
    const __half* b = packed + (int64_t{stretch.tile % cut.column_tiles} * cut.slices + stretch.first) * kSliceElements;
    for (int slice = stretch.first; slice < stretch.last; ++slice, b += kSliceElements) {
      barrier_wait(shared.empty + turn.stage, turn.parity ^ 1);
      uint64_t* full = shared.full + turn.stage;
      barrier_arrive_expecting(full, bytes);
      copy_box(shared.a(turn.stage), a, slice * a_columns, row, full);
      fetch_bulk(to_shared(shared.b(turn.stage)), b, shared.kB, full);
      turn.next();
    }
    step += stretch.last - stretch.first;
  }
}

/// Releases a stage that this warp has read.
inline __device__ void leave_stage(uint64_t* empty) {
  if (threadIdx.x % 32 == 0) barrier_arrive(empty);
}

/// Releases the stages unread, for the warps of a group without rows.
template <int kWarpgroups, int kGroupsEach, int kStages>
__device__ void pass_stages(const DenseStages<kWarpgroups, kGroupsEach, kStages>& shared, int64_t steps) {
  StageTurn<kStages> turn;
  for (int64_t step = 0; step < steps; ++step) {
    barrier_wait(shared.full + turn.stage, turn.parity);
    leave_stage(shared.empty + turn.stage);
    turn.next();
  }
}

/// Returns the wgmma descriptor of rows or columns in shared memory. Add 2 for each 16 K elements, 512 for each 64
/// rows.
inline __device__ uint64_t dense_operand(const void* rows) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62, kEightRows = uint64_t{1024 / 16} << 32;
  return kSwizzle128 | kEightRows | uint64_t{1} << 16 | to_shared(rows) >> 4;
}

/// Waits until at most kPending wgmma groups are in flight.
template <int kPending>
__device__ void await_all_but() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

#define CONVLAB_D8(i)                                                                                         \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])
#define CONVLAB_D80                                                                                             \
  CONVLAB_D8(0), CONVLAB_D8(8), CONVLAB_D8(16), CONVLAB_D8(24), CONVLAB_D8(32), CONVLAB_D8(40), CONVLAB_D8(48), \
      CONVLAB_D8(56), CONVLAB_D8(64), CONVLAB_D8(72)
#define CONVLAB_D80_NAMES                                                            \
  "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,"          \
  "%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39," \
  "%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59," \
  "%60,%61,%62,%63,%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79}"

/// d = a * b + (add ? d : 0), for 64 rows by 160 columns and 16 K elements. Warp w of the warpgroup has the rows of d
/// from 16 w on. At d[4 j], a thread has the D fragment of mma_fp16 (device/tensor_core.cuh) for the columns from 8 j
/// on.
inline __device__ void multiply_group(float (&d)[80], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %82, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n160k16.f32.f16.f16 " CONVLAB_D80_NAMES ", %80, %81, p, 1, 1, 0, 0;}\n"
      : CONVLAB_D80
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

/// The same with a in registers, as the A fragment of mma_fp16.
inline __device__ void multiply_group(float (&d)[80], const uint32_t (&a)[4], uint64_t b, bool add) {
  asm volatile(
      "{.reg .pred p; setp.ne.b32 p, %85, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n160k16.f32.f16.f16 " CONVLAB_D80_NAMES
      ", {%80,%81,%82,%83}, %84, p, 1, 1, 0;}\n"
      : CONVLAB_D80
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

#undef CONVLAB_D8
#undef CONVLAB_D80
#undef CONVLAB_D80_NAMES

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
