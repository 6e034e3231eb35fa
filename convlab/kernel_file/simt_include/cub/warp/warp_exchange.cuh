#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/collective.cuh"

namespace cub {

enum WarpExchangeAlgorithm { WARP_EXCHANGE_SMEM, WARP_EXCHANGE_SHUFFLE };

/// Rearranges the items of a logical warp through its shared memory, with __syncwarp() between stores and loads. Each
/// logical warp needs a TempStorage of its own.
template <class T, int ITEMS_PER_THREAD, int LOGICAL_WARP_THREADS = 32, int LEGACY_PTX_ARCH = 0,
          WarpExchangeAlgorithm ALGORITHM = WARP_EXCHANGE_SMEM>
class WarpExchange {
  using Where = detail::Where;

 public:
  struct TempStorage {
    detail::Storage<T, ITEMS_PER_THREAD * LOGICAL_WARP_THREADS> items;
  };

  WarpExchange() = delete;
  explicit WarpExchange(TempStorage& storage) : storage_(storage) {}

  template <class U>
  void BlockedToStriped(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], Where where = Where::current()) {
    move(in, out, blocked, striped, where);
  }
  template <class U>
  void StripedToBlocked(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], Where where = Where::current()) {
    move(in, out, striped, blocked, where);
  }
  template <class Offset>
  void ScatterToStriped(T (&items)[ITEMS_PER_THREAD], Offset (&ranks)[ITEMS_PER_THREAD],
                        Where where = Where::current()) {
    ScatterToStriped(items, items, ranks, where);
  }
  template <class U, class Offset>
  void ScatterToStriped(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], Offset (&ranks)[ITEMS_PER_THREAD],
                        Where where = Where::current()) {
    move(
        in, out, [&](int, int i) { return static_cast<int>(ranks[i]); }, striped, where);
  }

 private:
  static int blocked(int rank, int i) { return rank * ITEMS_PER_THREAD + i; }
  static int striped(int rank, int i) { return i * LOGICAL_WARP_THREADS + rank; }

  template <class U, class To, class From>
  void move(const T (&in)[ITEMS_PER_THREAD], U (&out)[ITEMS_PER_THREAD], To to, From from, Where where) {
    __syncwarp(warp_.mask, where);
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) storage_.items[to(warp_.rank, i)] = in[i];
    __syncwarp(warp_.mask, where);
    for (int i = 0; i < ITEMS_PER_THREAD; ++i) out[i] = storage_.items[from(warp_.rank, i)];
  }

  TempStorage& storage_;
  detail::WarpLanes warp_ = detail::warp_lanes<LOGICAL_WARP_THREADS>();
};

}  // namespace cub
