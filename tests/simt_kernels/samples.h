#pragma once

#include <cstdint>

#include "convlab/device/cuda_compat.h"

/// Launchers of the sample kernels. Pointers are device memory; the work is done when the stream has been synchronized.
namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Correct programs.
struct ConvSize {
  int n, c, h, w, k, r, s;
  __host__ __device__ int p() const { return h - r + 1; }
  __host__ __device__ int q() const { return w - s + 1; }
};
void conv_naive(const float* x, const float* w, float* y, ConvSize size, cudaStream_t stream);
void conv_shared_tile(const float* x, const float* w, float* y, ConvSize size, cudaStream_t stream);
void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream);
void sum_by_tree(const float* x, float* sums, int count, int blocks, cudaStream_t stream);
void sum_by_shuffles(const float* x, float* sums, int count, int blocks, cudaStream_t stream);
void sum_with_partial_masks(const float* x, float* sums, cudaStream_t stream);
void histogram(const int* values, int count, int* bins, cudaStream_t stream);
void histogram_of_bytes(const unsigned char* values, int count, unsigned char* out, cudaStream_t stream);
void scale_by_constant(const float* factors, const float* x, float* y, int count, cudaStream_t stream);
void scale_by_constant_again(const float* x, float* y, int count, cudaStream_t stream);
void matmul_fp16(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream);
void matmul_tf32(const float* a, const float* b, float* c, int m, int n, int k, bool split, cudaStream_t stream);
void double_with_vectors(const float* x, float* y, int count, cudaStream_t stream);
void sum_by_copies(const float* x, float* sums, int tiles, int exist, cudaStream_t stream);
void votes(const int* x, unsigned* out, cudaStream_t stream);
void block_votes(const int* x, int* out, int threads, cudaStream_t stream);
void transpose_halves(const float* x, float* y, cudaStream_t stream);
void conditional_scalar(const float* x, float* y, int count, bool use, cudaStream_t stream);
void active_lanes(unsigned* out, cudaStream_t stream);
void atomics_of_all_kinds(int* out, cudaStream_t stream);
void sum_by_last_block(const float* x, float* sums, unsigned* done, int count, int blocks, cudaStream_t stream);
void running_sum(const float* x, float* sums, int* flags, int blocks, cudaStream_t stream);
void largest_of_floats(const float* x, int* most, int blocks, cudaStream_t stream);
void add_block_to_bytes(unsigned char* values, int count, cudaStream_t stream);
void members_of_vectors(const float* x, float* y, cudaStream_t stream);
void print_threads(int lines, int blocks, cudaStream_t stream);

// Faulty programs, one fault each.
enum class Planted {
  global_read_past_end,
  global_read_before_start,
  global_write_past_end,
  global_write_to_read_only,
  global_null,
  global_uninitialized,
  global_misaligned,
  constant_write,
  static_shared_index,
  static_shared_inner_index,
  helper_shared_index,
  static_shared_pointer,
  shared_overrun_write,
  shared_overrun_read,
  dynamic_shared_past_end,
  local_index,
  uninitialized_shared,
  uninitialized_shared_half,
  never_written_shared,
  stale_shared,
  race_write_write,
  race_read_write,
  race_write_read,
  race_plain_and_atomic,
  race_between_warps,
  race_in_warp_without_syncwarp,
  race_after_shuffle,
  race_neighboring_halves,
  race_wmma_store,
  copy_not_awaited,
  copy_awaited_after_barrier,
  copy_of_last_group_not_awaited,
  copy_into_what_others_read,
  copy_misaligned,
  barrier_after_exit,
  barrier_in_branches,
  barrier_missed_by_half,
  syncwarp_missed,
  shuffle_missed_by_half,
  shuffle_reads_exited_lane,
  shuffle_reads_outside_mask,
  shuffle_without_own_lane,
  warp_and_block_barrier,
  wmma_in_branch,
  stack_overflow,
  trap,
  divides_by_zero,
  calls_nothing,
  throws,
  endless_loop,
  endless_loop_with_barriers,
  waits_for_another_block,
  waits_by_atomics,
  forgotten_atomic,
  blocks_overlap,
  reads_its_neighbor,
  plain_beside_atomic,
  reads_sum_too_early,
  flag_without_fence,
  blocks_share_a_byte,
  misaligned_vector,
  misaligned_vector_store,
  misaligned_shared_vector,
  assertion_fails,
  waits_for_a_plain_shared_flag,
  waits_for_a_plain_flag,
};
/// x holds 64 floats, y 64 floats.
void plant(Planted fault, const float* x, float* y, cudaStream_t stream);

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
