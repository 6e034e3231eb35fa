#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/collective.cuh"
#include "convlab/kernel_file/simt_include/cub/thread/thread_operators.cuh"

namespace cub {

/// Reductions of a warp, or of an aligned part of one. Rank 0 has the result; for the other lanes it is undefined, and
/// here bytes 0xff. Works by shuffles: TempStorage is not used.
template <class T, int LOGICAL_WARP_THREADS = 32, int LEGACY_PTX_ARCH = 0>
class WarpReduce {
  using Where = detail::Where;

 public:
  using TempStorage = NullType;

  explicit WarpReduce(TempStorage&) {}

  template <class ReductionOp>
  T Reduce(T input, ReductionOp op, Where where = Where::current()) {
    return reduce(input, op, warp_.count, where);
  }
  /// Of the first `valid_items` lanes.
  template <class ReductionOp>
  T Reduce(T input, ReductionOp op, int valid_items, Where where = Where::current()) {
    return reduce(input, op, valid_items, where);
  }
  T Sum(T input, Where where = Where::current()) { return reduce(input, cub::Sum(), warp_.count, where); }
  T Sum(T input, int valid_items, Where where = Where::current()) {
    return reduce(input, cub::Sum(), valid_items, where);
  }

  /// A head flag begins a segment. The first lane of each segment has its result.
  template <class ReductionOp, class FlagT>
  T HeadSegmentedReduce(T input, FlagT head_flag, ReductionOp op, Where where = Where::current()) {
    const unsigned heads = __ballot_sync(warp_.mask, head_flag ? 1 : 0, where) >> warp_.first;
    return segmented(input, op, heads >> 1, where);
  }
  template <class FlagT>
  T HeadSegmentedSum(T input, FlagT head_flag, Where where = Where::current()) {
    return HeadSegmentedReduce(input, head_flag, cub::Sum(), where);
  }
  /// A tail flag ends a segment.
  template <class ReductionOp, class FlagT>
  T TailSegmentedReduce(T input, FlagT tail_flag, ReductionOp op, Where where = Where::current()) {
    const unsigned tails = __ballot_sync(warp_.mask, tail_flag ? 1 : 0, where) >> warp_.first;
    return segmented(input, op, tails, where);
  }
  template <class FlagT>
  T TailSegmentedSum(T input, FlagT tail_flag, Where where = Where::current()) {
    return TailSegmentedReduce(input, tail_flag, cub::Sum(), where);
  }

 private:
  template <class ReductionOp>
  T reduce(T input, ReductionOp op, int valid, Where where) {
    T result = detail::reduce_warp(warp_, input, op, valid, where);
    if (warp_.rank != 0) detail::poison(result);
    return result;
  }
  /// `tails`: bit i is set if rank i ends a segment.
  template <class ReductionOp>
  T segmented(T input, ReductionOp op, unsigned tails, Where where) {
    const unsigned later = tails >> warp_.rank;
    const int end = later == 0 ? warp_.count : warp_.rank + __ffs(static_cast<int>(later));
    return detail::reduce_warp(warp_, input, op, min(end, warp_.count), where);
  }

  detail::WarpLanes warp_ = detail::warp_lanes<LOGICAL_WARP_THREADS>();
};

}  // namespace cub
