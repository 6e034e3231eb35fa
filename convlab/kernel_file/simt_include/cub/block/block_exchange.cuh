#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/collective.cuh"

namespace cub {

/// Rearranges the items of a block through shared memory. Blocked: a thread's items are neighbors. Striped: item i of
/// thread t has index i * threads + t. Each call has one barrier between its stores and its loads; a kernel needs
/// another one before it uses the TempStorage again.
template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, bool WARP_TIME_SLICING = false, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockExchange {
  using Where = detail::Where;
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
  static constexpr int kItems = kThreads * ITEMS_PER_THREAD;

 public:
  struct TempStorage {
    detail::Storage<T, kItems> items;
  };

  BlockExchange() : storage_(private_storage()) {}
  explicit BlockExchange(TempStorage& storage) : storage_(storage) {}

  template <class U>
  void StripedToBlocked(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], Where where = Where::current()) {
    move(in, out, striped, blocked, where);
  }
  template <class U>
  void BlockedToStriped(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], Where where = Where::current()) {
    move(in, out, blocked, striped, where);
  }
  template <class U>
  void WarpStripedToBlocked(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD],
                            Where where = Where::current()) {
    move(in, out, warp_striped, blocked, where);
  }
  template <class U>
  void BlockedToWarpStriped(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD],
                            Where where = Where::current()) {
    move(in, out, blocked, warp_striped, where);
  }
  /// Item i goes to index ranks[i]. Two items of one rank are a data race.
  template <class U, class Offset>
  void ScatterToBlocked(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], Offset (&ranks)[ITEMS_PER_THREAD],
                        Where where = Where::current()) {
    move(
        in, out, [&](int, int i) { return static_cast<int>(ranks[i]); }, blocked, where);
  }
  template <class U, class Offset>
  void ScatterToStriped(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], Offset (&ranks)[ITEMS_PER_THREAD],
                        Where where = Where::current()) {
    move(
        in, out, [&](int, int i) { return static_cast<int>(ranks[i]); }, striped, where);
  }
  /// Drops items whose rank is negative. Indices that no item goes to are read uninitialized.
  template <class U, class Offset>
  void ScatterToStripedGuarded(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD],
                               Offset (&ranks)[ITEMS_PER_THREAD], Where where = Where::current()) {
    ScatterToStriped(in, out, ranks, where);
  }
  /// Drops items whose flag is false.
  template <class U, class Offset, class Flag>
  void ScatterToStripedFlagged(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD],
                               Offset (&ranks)[ITEMS_PER_THREAD], Flag (&is_valid)[ITEMS_PER_THREAD],
                               Where where = Where::current()) {
    move(
        in, out, [&](int, int i) { return is_valid[i] ? static_cast<int>(ranks[i]) : -1; }, striped, where);
  }

  void StripedToBlocked(T (&items)[ITEMS_PER_THREAD], Where where = Where::current()) {
    StripedToBlocked(items, items, where);
  }
  void BlockedToStriped(T (&items)[ITEMS_PER_THREAD], Where where = Where::current()) {
    BlockedToStriped(items, items, where);
  }
  void WarpStripedToBlocked(T (&items)[ITEMS_PER_THREAD], Where where = Where::current()) {
    WarpStripedToBlocked(items, items, where);
  }
  void BlockedToWarpStriped(T (&items)[ITEMS_PER_THREAD], Where where = Where::current()) {
    BlockedToWarpStriped(items, items, where);
  }
  template <class Offset>
  void ScatterToBlocked(T (&items)[ITEMS_PER_THREAD], Offset (&ranks)[ITEMS_PER_THREAD],
                        Where where = Where::current()) {
    ScatterToBlocked(items, items, ranks, where);
  }
  template <class Offset>
  void ScatterToStriped(T (&items)[ITEMS_PER_THREAD], Offset (&ranks)[ITEMS_PER_THREAD],
                        Where where = Where::current()) {
    ScatterToStriped(items, items, ranks, where);
  }

 private:
  static TempStorage& private_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  static int blocked(int thread, int i) { return thread * ITEMS_PER_THREAD + i; }
  static int striped(int thread, int i) { return i * kThreads + thread; }
  static int warp_striped(int thread, int i) {
    const int first = thread / 32 * 32, in_warp = min(32, kThreads - first);
    return first * ITEMS_PER_THREAD + i * in_warp + thread % 32;
  }

  /// Stores item i at index to(thread, i) unless that is negative, and loads from index from(thread, i).
  template <class U, class To, class From>
  void move(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], To to, From from, Where where) {
    detail::check_block("cub::BlockExchange: the block has as many threads as its template says", kThreads);
    const int thread = RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z);
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) {
      const int at = to(thread, i);
      if (at >= 0) storage_.items[at] = in[i];
    }
    __syncthreads(where);
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) out[i] = storage_.items[from(thread, i)];
  }

  TempStorage& storage_;
};

}  // namespace cub
