#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/collective.cuh"
#include "convlab/kernel_file/simt_include/cub/thread/thread_operators.cuh"

namespace cub {

/// Prefix sums of a warp, or of an aligned part of one. Without an initial value, the exclusive result of rank 0 is
/// undefined, and here bytes 0xff. Works by shuffles: TempStorage is not used.
template <class T, int LOGICAL_WARP_THREADS = 32, int LEGACY_PTX_ARCH = 0>
class WarpScan {
  using Where = detail::Where;

 public:
  using TempStorage = NullType;

  explicit WarpScan(TempStorage&) {}

  void InclusiveSum(T input, T& output, Where where = Where::current()) {
    InclusiveScan(input, output, cub::Sum(), where);
  }
  void InclusiveSum(T input, T& output, T& aggregate, Where where = Where::current()) {
    InclusiveScan(input, output, cub::Sum(), aggregate, where);
  }
  void ExclusiveSum(T input, T& output, Where where = Where::current()) {
    ExclusiveScan(input, output, T{}, cub::Sum(), where);
  }
  void ExclusiveSum(T input, T& output, T& aggregate, Where where = Where::current()) {
    ExclusiveScan(input, output, T{}, cub::Sum(), aggregate, where);
  }

  template <class ScanOp>
  void InclusiveScan(T input, T& output, ScanOp op, Where where = Where::current()) {
    output = detail::scan_warp(warp_, input, op, where);
  }
  template <class ScanOp>
  void InclusiveScan(T input, T& output, ScanOp op, T& aggregate, Where where = Where::current()) {
    output = detail::scan_warp(warp_, input, op, where);
    aggregate = detail::shuffle(warp_.mask, output, warp_.first + warp_.count - 1, where);
  }
  template <class ScanOp>
  void ExclusiveScan(T input, T& output, ScanOp op, Where where = Where::current()) {
    T inclusive = input;
    Scan(input, inclusive, output, op, where);
  }
  template <class ScanOp>
  void ExclusiveScan(T input, T& output, T initial, ScanOp op, Where where = Where::current()) {
    T inclusive = input;
    Scan(input, inclusive, output, initial, op, where);
  }
  /// The aggregate is that of the inputs, without the initial value.
  template <class ScanOp>
  void ExclusiveScan(T input, T& output, ScanOp op, T& aggregate, Where where = Where::current()) {
    T inclusive = input;
    Scan(input, inclusive, output, op, where);
    aggregate = detail::shuffle(warp_.mask, inclusive, warp_.first + warp_.count - 1, where);
  }
  template <class ScanOp>
  void ExclusiveScan(T input, T& output, T initial, ScanOp op, T& aggregate, Where where = Where::current()) {
    ExclusiveScan(input, output, op, aggregate, where);
    output = warp_.rank == 0 ? initial : op(initial, output);
  }
  template <class ScanOp>
  void Scan(T input, T& inclusive, T& exclusive, ScanOp op, Where where = Where::current()) {
    inclusive = detail::scan_warp(warp_, input, op, where);
    const int source = warp_.rank == 0 ? 0 : warp_.rank - 1;
    exclusive = detail::shuffle(warp_.mask, inclusive, warp_.first + source, where);
    if (warp_.rank == 0) detail::poison(exclusive);
  }
  template <class ScanOp>
  void Scan(T input, T& inclusive, T& exclusive, T initial, ScanOp op, Where where = Where::current()) {
    Scan(input, inclusive, exclusive, op, where);
    inclusive = op(initial, inclusive);
    exclusive = warp_.rank == 0 ? initial : op(initial, exclusive);
  }
  T Broadcast(T input, unsigned source_rank, Where where = Where::current()) {
    return detail::shuffle(warp_.mask, input, warp_.first + static_cast<int>(source_rank), where);
  }

 private:
  detail::WarpLanes warp_ = detail::warp_lanes<LOGICAL_WARP_THREADS>();
};

}  // namespace cub
