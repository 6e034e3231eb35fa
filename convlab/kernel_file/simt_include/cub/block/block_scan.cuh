#pragma once

#include <type_traits>

#include "convlab/kernel_file/simt_include/cub/detail/collective.cuh"
#include "convlab/kernel_file/simt_include/cub/thread/thread_operators.cuh"

namespace cub {

enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

/// Prefix sums of a block. Without an initial value, the exclusive result of thread 0 is undefined, and here bytes
/// 0xff. All algorithms are BLOCK_SCAN_WARP_SCANS: each warp scans by shuffles, and then each thread combines the
/// results of the warps before it in shared memory. A kernel needs a barrier before it uses the TempStorage again.
template <class T, int BLOCK_DIM_X, BlockScanAlgorithm ALGORITHM = BLOCK_SCAN_RAKING, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockScan {
  using Where = detail::Where;
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
  static constexpr int kWarps = (kThreads + 31) / 32;
  /// A prefix callback is called with the aggregate; a scan operator is not.
  template <class C>
  static constexpr bool is_callback = std::is_invocable_v<C&, T>;

 public:
  struct TempStorage {
    detail::Storage<T, kWarps> aggregates;
    detail::Storage<T, 1> prefix;
  };

  BlockScan() : storage_(private_storage()) {}
  explicit BlockScan(TempStorage& storage) : storage_(storage) {}

  // ---- Exclusive sums ----

  void ExclusiveSum(T input, T& output, Where where = Where::current()) {
    ExclusiveScan(input, output, T{}, cub::Sum(), where);
  }
  void ExclusiveSum(T input, T& output, T& block_aggregate, Where where = Where::current()) {
    ExclusiveScan(input, output, T{}, cub::Sum(), block_aggregate, where);
  }
  template <class Callback>
  requires is_callback<Callback>
  void ExclusiveSum(T input, T& output, Callback& prefix, Where where = Where::current()) {
    ExclusiveScan(input, output, cub::Sum(), prefix, where);
  }
  template <int ITEMS>
  void ExclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], Where where = Where::current()) {
    ExclusiveScan(input, output, T{}, cub::Sum(), where);
  }
  template <int ITEMS>
  void ExclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], T& block_aggregate, Where where = Where::current()) {
    ExclusiveScan(input, output, T{}, cub::Sum(), block_aggregate, where);
  }
  template <int ITEMS, class Callback>
  requires is_callback<Callback>
  void ExclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], Callback& prefix, Where where = Where::current()) {
    ExclusiveScan(input, output, cub::Sum(), prefix, where);
  }

  // ---- Inclusive sums ----

  void InclusiveSum(T input, T& output, Where where = Where::current()) {
    InclusiveScan(input, output, cub::Sum(), where);
  }
  void InclusiveSum(T input, T& output, T& block_aggregate, Where where = Where::current()) {
    InclusiveScan(input, output, cub::Sum(), block_aggregate, where);
  }
  template <class Callback>
  requires is_callback<Callback>
  void InclusiveSum(T input, T& output, Callback& prefix, Where where = Where::current()) {
    InclusiveScan(input, output, cub::Sum(), prefix, where);
  }
  template <int ITEMS>
  void InclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], Where where = Where::current()) {
    InclusiveScan(input, output, cub::Sum(), where);
  }
  template <int ITEMS>
  void InclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], T& block_aggregate, Where where = Where::current()) {
    InclusiveScan(input, output, cub::Sum(), block_aggregate, where);
  }
  template <int ITEMS, class Callback>
  requires is_callback<Callback>
  void InclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], Callback& prefix, Where where = Where::current()) {
    InclusiveScan(input, output, cub::Sum(), prefix, where);
  }

  // ---- Exclusive scans. The block's aggregate is that of the inputs, without initial value or prefix ----

  template <class ScanOp>
  void ExclusiveScan(T input, T& output, T initial, ScanOp op, Where where = Where::current()) {
    const Scanned all = scan(input, op, where);
    output = exclusive(all, initial, op);
  }
  template <class ScanOp>
  void ExclusiveScan(T input, T& output, T initial, ScanOp op, T& block_aggregate, Where where = Where::current()) {
    const Scanned all = scan(input, op, where);
    output = exclusive(all, initial, op);
    block_aggregate = all.aggregate;
  }
  template <class ScanOp, class Callback>
  requires is_callback<Callback>
  void ExclusiveScan(T input, T& output, ScanOp op, Callback& prefix, Where where = Where::current()) {
    const Scanned all = scan(input, op, where);
    output = exclusive(all, prefix_of(all, prefix, where), op);
  }
  template <class ScanOp>
  void ExclusiveScan(T input, T& output, ScanOp op, Where where = Where::current()) {
    output = scan(input, op, where).exclusive;
  }
  template <class ScanOp>
  void ExclusiveScan(T input, T& output, ScanOp op, T& block_aggregate, Where where = Where::current()) {
    const Scanned all = scan(input, op, where);
    output = all.exclusive;
    block_aggregate = all.aggregate;
  }
  template <int ITEMS, class ScanOp>
  void ExclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], T initial, ScanOp op, Where where = Where::current()) {
    const Scanned all = scan(reduced(input, op), op, where);
    exclusive_items(input, output, exclusive(all, initial, op), op);
  }
  template <int ITEMS, class ScanOp>
  void ExclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], T initial, ScanOp op, T& block_aggregate,
                     Where where = Where::current()) {
    const Scanned all = scan(reduced(input, op), op, where);
    exclusive_items(input, output, exclusive(all, initial, op), op);
    block_aggregate = all.aggregate;
  }
  template <int ITEMS, class ScanOp, class Callback>
  requires is_callback<Callback>
  void ExclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], ScanOp op, Callback& prefix,
                     Where where = Where::current()) {
    const Scanned all = scan(reduced(input, op), op, where);
    exclusive_items(input, output, exclusive(all, prefix_of(all, prefix, where), op), op);
  }

  // ---- Inclusive scans ----

  template <class ScanOp>
  void InclusiveScan(T input, T& output, ScanOp op, Where where = Where::current()) {
    output = scan(input, op, where).inclusive;
  }
  template <class ScanOp>
  void InclusiveScan(T input, T& output, ScanOp op, T& block_aggregate, Where where = Where::current()) {
    const Scanned all = scan(input, op, where);
    output = all.inclusive;
    block_aggregate = all.aggregate;
  }
  template <class ScanOp, class Callback>
  requires is_callback<Callback>
  void InclusiveScan(T input, T& output, ScanOp op, Callback& prefix, Where where = Where::current()) {
    const Scanned all = scan(input, op, where);
    output = op(prefix_of(all, prefix, where), all.inclusive);
  }
  template <int ITEMS, class ScanOp>
  void InclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], ScanOp op, Where where = Where::current()) {
    const Scanned all = scan(reduced(input, op), op, where);
    inclusive_items(input, output, all, op);
  }
  template <int ITEMS, class ScanOp>
  void InclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], ScanOp op, T& block_aggregate,
                     Where where = Where::current()) {
    const Scanned all = scan(reduced(input, op), op, where);
    inclusive_items(input, output, all, op);
    block_aggregate = all.aggregate;
  }
  template <int ITEMS, class ScanOp, class Callback>
  requires is_callback<Callback>
  void InclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], ScanOp op, Callback& prefix,
                     Where where = Where::current()) {
    Scanned all = scan(reduced(input, op), op, where);
    all.exclusive = exclusive(all, prefix_of(all, prefix, where), op);
    all.has_exclusive = true;
    inclusive_items(input, output, all, op);
  }

 private:
  struct Scanned {
    T inclusive, exclusive, aggregate;
    bool has_exclusive;  ///< false in thread 0
  };

  static TempStorage& private_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  template <class ScanOp>
  Scanned scan(T input, ScanOp op, Where where) {
    detail::check_block("cub::BlockScan: the block has as many threads as its template says", kThreads);
    const int thread = RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z);
    const int warp = thread / 32;
    const detail::WarpLanes lanes = detail::warp_lanes<32>();
    T inclusive = detail::scan_warp(lanes, input, op, where);
    T exclusive = detail::shuffle(lanes.mask, inclusive, lanes.rank == 0 ? 0 : lanes.rank - 1, where);
    if (lanes.rank == lanes.count - 1) storage_.aggregates[warp] = inclusive;
    __syncthreads(where);
    T before = storage_.aggregates[0], aggregate = before;
    for (int other = 1; other < kWarps; ++other) {
      if (other == warp) before = aggregate;
      const T next = storage_.aggregates[other];
      aggregate = op(aggregate, next);
    }
    if (warp > 0) {
      inclusive = op(before, inclusive);
      exclusive = lanes.rank == 0 ? before : op(before, exclusive);
    }
    if (thread == 0) detail::poison(exclusive);
    return {inclusive, exclusive, aggregate, thread != 0};
  }

  template <class ScanOp>
  T exclusive(const Scanned& all, T initial, ScanOp op) {
    return all.has_exclusive ? op(initial, all.exclusive) : initial;
  }

  /// Calls the callback in the first warp and returns lane 0's result to all threads.
  template <class Callback>
  T prefix_of(const Scanned& all, Callback& callback, Where where) {
    const int thread = RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z);
    if (thread < 32) {
      const T prefix = callback(all.aggregate);
      if (thread == 0) storage_.prefix[0] = prefix;
    }
    __syncthreads(where);
    return storage_.prefix[0];
  }

  template <int ITEMS, class ScanOp>
  static T reduced(T (&input)[ITEMS], ScanOp op) {
    T own = input[0];
    for (int i = 1; i < ITEMS; ++i) own = op(own, input[i]);
    return own;
  }

  /// Input and output may be the same array.
  template <int ITEMS, class ScanOp>
  static void exclusive_items(T (&input)[ITEMS], T (&output)[ITEMS], T before, ScanOp op) {
    for (int i = 0; i < ITEMS; ++i) {
      const T next = op(before, input[i]);
      output[i] = before;
      before = next;
    }
  }
  template <int ITEMS, class ScanOp>
  static void inclusive_items(T (&input)[ITEMS], T (&output)[ITEMS], const Scanned& all, ScanOp op) {
    T before = all.has_exclusive ? op(all.exclusive, input[0]) : input[0];
    output[0] = before;
    for (int i = 1; i < ITEMS; ++i) output[i] = before = op(before, input[i]);
  }

  TempStorage& storage_;
};

}  // namespace cub
