#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/collective.cuh"
#include "convlab/kernel_file/simt_include/cub/thread/thread_operators.cuh"

namespace cub {

enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
  BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC,
};

/// Reductions of a block. Thread 0 has the result; for the other threads it is undefined, and here bytes 0xff. All
/// algorithms are BLOCK_REDUCE_WARP_REDUCTIONS: each warp reduces by shuffles, and thread 0 combines the warps' results
/// in shared memory, after one barrier. So a kernel needs a barrier before it uses the TempStorage again.
template <class T, int BLOCK_DIM_X, BlockReduceAlgorithm ALGORITHM = BLOCK_REDUCE_WARP_REDUCTIONS, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockReduce {
  using Where = detail::Where;
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
  static constexpr int kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    detail::Storage<T, kWarps> aggregates;
  };

  BlockReduce() : storage_(private_storage()) {}
  explicit BlockReduce(TempStorage& storage) : storage_(storage) {}

  template <class ReductionOp>
  T Reduce(T input, ReductionOp op, Where where = Where::current()) {
    detail::check_block("cub::BlockReduce: the block has as many threads as its template says", kThreads);
    return reduce(input, op, kThreads, where);
  }
  template <int ITEMS_PER_THREAD, class ReductionOp>
  T Reduce(T (&inputs)[ITEMS_PER_THREAD], ReductionOp op, Where where = Where::current()) {
    T own = inputs[0];
    for (int i = 1; i < ITEMS_PER_THREAD; ++i) own = op(own, inputs[i]);
    return Reduce(own, op, where);
  }
  /// Of the first `num_valid` threads. The block may be smaller than the template says.
  template <class ReductionOp>
  T Reduce(T input, ReductionOp op, int num_valid, Where where = Where::current()) {
    return reduce(input, op, num_valid, where);
  }
  T Sum(T input, Where where = Where::current()) { return Reduce(input, cub::Sum(), where); }
  template <int ITEMS_PER_THREAD>
  T Sum(T (&inputs)[ITEMS_PER_THREAD], Where where = Where::current()) {
    return Reduce(inputs, cub::Sum(), where);
  }
  T Sum(T input, int num_valid, Where where = Where::current()) { return reduce(input, cub::Sum(), num_valid, where); }

 private:
  static TempStorage& private_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  template <class ReductionOp>
  T reduce(T input, ReductionOp op, int valid, Where where) {
    const int thread = RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z);
    const int warp = thread / 32;
    T result = detail::reduce_warp(detail::warp_lanes<32>(), input, op, valid - warp * 32, where);
    if (thread % 32 == 0 && thread < valid) storage_.aggregates[warp] = result;
    __syncthreads(where);
    if (thread == 0) {
      for (int other = 1; other < kWarps && other * 32 < valid; ++other) {
        const T next = storage_.aggregates[other];
        result = op(result, next);
      }
    } else {
      detail::poison(result);
    }
    return result;
  }

  TempStorage& storage_;
};

}  // namespace cub
