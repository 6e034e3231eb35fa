#pragma once

#include "convlab/kernel_file/simt_include/cub/block/block_exchange.cuh"

namespace cub {

enum BlockStoreAlgorithm {
  BLOCK_STORE_DIRECT,
  BLOCK_STORE_STRIPED,
  BLOCK_STORE_VECTORIZE,
  BLOCK_STORE_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE,
  BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED,
};

// ---- Stores of a block's items, of those before `valid` if it is given ----

template <class T, int ITEMS, class Iterator>
void StoreDirectBlocked(int thread, Iterator to, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) to[thread * ITEMS + i] = items[i];
}
template <class T, int ITEMS, class Iterator>
void StoreDirectBlocked(int thread, Iterator to, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i) {
    if (thread * ITEMS + i < valid) to[thread * ITEMS + i] = items[i];
  }
}
template <int BLOCK_THREADS, class T, int ITEMS, class Iterator>
void StoreDirectStriped(int thread, Iterator to, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) to[thread + i * BLOCK_THREADS] = items[i];
}
template <int BLOCK_THREADS, class T, int ITEMS, class Iterator>
void StoreDirectStriped(int thread, Iterator to, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i) {
    if (thread + i * BLOCK_THREADS < valid) to[thread + i * BLOCK_THREADS] = items[i];
  }
}
template <class T, int ITEMS, class Iterator>
void StoreDirectWarpStriped(int thread, Iterator to, T (&items)[ITEMS]) {
  const int first = thread / 32 * 32 * ITEMS + thread % 32;
  for (int i = 0; i < ITEMS; ++i) to[first + i * 32] = items[i];
}
template <class T, int ITEMS, class Iterator>
void StoreDirectWarpStriped(int thread, Iterator to, T (&items)[ITEMS], int valid) {
  const int first = thread / 32 * 32 * ITEMS + thread % 32;
  for (int i = 0; i < ITEMS; ++i) {
    if (first + i * 32 < valid) to[first + i * 32] = items[i];
  }
}
/// Here stores item by item, so that each is checked.
template <class T, int ITEMS>
void StoreDirectBlockedVectorized(int thread, T* to, T (&items)[ITEMS]) {
  StoreDirectBlocked(thread, to, items);
}

/// Stores a block's items from a blocked arrangement (BLOCK_STORE_STRIPED: from a striped one). The algorithms that
/// transpose exchange through shared memory, with BlockExchange's barrier, and store in stripes, which coalesces.
template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, BlockStoreAlgorithm ALGORITHM = BLOCK_STORE_DIRECT,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockStore {
  using Where = detail::Where;
  using Exchange = BlockExchange<T, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
  static constexpr bool kTransposes = ALGORITHM >= BLOCK_STORE_TRANSPOSE;
  static_assert(ALGORITHM < BLOCK_STORE_WARP_TRANSPOSE || kThreads % 32 == 0,
                "BLOCK_STORE_WARP_TRANSPOSE needs whole warps");

 public:
  using TempStorage = std::conditional_t<kTransposes, typename Exchange::TempStorage, NullType>;

  BlockStore() : storage_(private_storage()) {}
  explicit BlockStore(TempStorage& storage) : storage_(storage) {}

  template <class Iterator>
  void Store(Iterator to, T (&items)[ITEMS_PER_THREAD], Where where = Where::current()) {
    store(to, items, where);
  }
  template <class Iterator>
  void Store(Iterator to, T (&items)[ITEMS_PER_THREAD], int valid, Where where = Where::current()) {
    store(to, items, where, valid);
  }

 private:
  static TempStorage& private_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  template <class Iterator, class... Valid>
  void store(Iterator to, T (&items)[ITEMS_PER_THREAD], Where where, Valid... valid) {
    const int thread = RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z);
    if constexpr (kTransposes) Exchange(storage_).BlockedToStriped(items, items, where);
    if constexpr (ALGORITHM == BLOCK_STORE_DIRECT || ALGORITHM == BLOCK_STORE_VECTORIZE) {
      StoreDirectBlocked(thread, to, items, valid...);
    } else {
      StoreDirectStriped<kThreads>(thread, to, items, valid...);
    }
  }

  TempStorage& storage_;
};

}  // namespace cub
