#pragma once

#include "convlab/simt/cuda/thread_groups.h"

/// Cooperative groups: the grid of a cooperative launch.
namespace convlab::simt::cuda::cooperative_groups {

/// All threads of the grid. sync() is only valid in a launch by cudaLaunchCooperativeKernel(); in others it is a fault.
class grid_group : public thread_group {
 public:
  using arrival_token = cooperative_groups::arrival_token;

  /// Returns whether the grid can synchronize.
  bool is_valid() const { return is_cooperative_launch(); }
  void sync(Where where = Where::current()) const { grid_barrier(where); }
  [[nodiscard]] arrival_token barrier_arrive() const { return {}; }
  void barrier_wait(arrival_token&&, Where where = Where::current()) const { sync(where); }

  static unsigned long long num_blocks() { return grid_blocks(); }
  static unsigned long long num_threads() { return grid_blocks() * lanes::threads_in_block(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long block_rank() { return grid_block_rank(); }
  static unsigned long long thread_rank() {
    return grid_block_rank() * lanes::threads_in_block() + lanes::rank_in_block();
  }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
  static dim3 dim_threads() { return blockDim; }
  static dim3 thread_index() { return threadIdx; }

 private:
  constexpr grid_group() : thread_group(Kind::grid) {}
  friend grid_group this_grid();
};
inline grid_group this_grid() { return {}; }

}  // namespace convlab::simt::cuda::cooperative_groups
