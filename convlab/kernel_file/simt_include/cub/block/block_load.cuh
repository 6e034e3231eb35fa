#pragma once

#include "convlab/kernel_file/simt_include/cub/block/block_exchange.cuh"

namespace cub {

enum BlockLoadAlgorithm {
  BLOCK_LOAD_DIRECT,
  BLOCK_LOAD_STRIPED,
  BLOCK_LOAD_VECTORIZE,
  BLOCK_LOAD_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE,
  BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
};

// ---- Loads of a block's items. Items at and past `valid` keep their value, or get the default ----

template <class T, int ITEMS, class Iterator>
void LoadDirectBlocked(int thread, Iterator from, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) items[i] = from[thread * ITEMS + i];
}
template <class T, int ITEMS, class Iterator>
void LoadDirectBlocked(int thread, Iterator from, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i) {
    if (thread * ITEMS + i < valid) items[i] = from[thread * ITEMS + i];
  }
}
template <class T, int ITEMS, class Iterator, class Default>
void LoadDirectBlocked(int thread, Iterator from, T (&items)[ITEMS], int valid, Default otherwise) {
  for (T& item : items) item = otherwise;
  LoadDirectBlocked(thread, from, items, valid);
}
template <int BLOCK_THREADS, class T, int ITEMS, class Iterator>
void LoadDirectStriped(int thread, Iterator from, T (&items)[ITEMS]) {
  for (int i = 0; i < ITEMS; ++i) items[i] = from[thread + i * BLOCK_THREADS];
}
template <int BLOCK_THREADS, class T, int ITEMS, class Iterator>
void LoadDirectStriped(int thread, Iterator from, T (&items)[ITEMS], int valid) {
  for (int i = 0; i < ITEMS; ++i) {
    if (thread + i * BLOCK_THREADS < valid) items[i] = from[thread + i * BLOCK_THREADS];
  }
}
template <int BLOCK_THREADS, class T, int ITEMS, class Iterator, class Default>
void LoadDirectStriped(int thread, Iterator from, T (&items)[ITEMS], int valid, Default otherwise) {
  for (T& item : items) item = otherwise;
  LoadDirectStriped<BLOCK_THREADS>(thread, from, items, valid);
}
template <class T, int ITEMS, class Iterator>
void LoadDirectWarpStriped(int thread, Iterator from, T (&items)[ITEMS]) {
  const int first = thread / 32 * 32 * ITEMS + thread % 32;
  for (int i = 0; i < ITEMS; ++i) items[i] = from[first + i * 32];
}
template <class T, int ITEMS, class Iterator>
void LoadDirectWarpStriped(int thread, Iterator from, T (&items)[ITEMS], int valid) {
  const int first = thread / 32 * 32 * ITEMS + thread % 32;
  for (int i = 0; i < ITEMS; ++i) {
    if (first + i * 32 < valid) items[i] = from[first + i * 32];
  }
}
/// Here loads item by item, so that each is checked.
template <class T, int ITEMS>
void LoadDirectBlockedVectorized(int thread, T* from, T (&items)[ITEMS]) {
  LoadDirectBlocked(thread, from, items);
}

/// Loads a block's items into a blocked arrangement (BLOCK_LOAD_STRIPED: a striped one). The algorithms that transpose
/// load in stripes, which coalesces, and exchange through shared memory, with BlockExchange's barrier.
template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, BlockLoadAlgorithm ALGORITHM = BLOCK_LOAD_DIRECT,
          int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1, int LEGACY_PTX_ARCH = 0>
class BlockLoad {
  using Where = detail::Where;
  using Exchange = BlockExchange<T, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;
  static constexpr bool kTransposes = ALGORITHM >= BLOCK_LOAD_TRANSPOSE;
  static_assert(ALGORITHM < BLOCK_LOAD_WARP_TRANSPOSE || kThreads % 32 == 0,
                "BLOCK_LOAD_WARP_TRANSPOSE needs whole warps");

 public:
  using TempStorage = std::conditional_t<kTransposes, typename Exchange::TempStorage, NullType>;

  BlockLoad() : storage_(private_storage()) {}
  explicit BlockLoad(TempStorage& storage) : storage_(storage) {}

  template <class Iterator>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD], Where where = Where::current()) {
    load(from, items, where);
  }
  template <class Iterator>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD], int valid, Where where = Where::current()) {
    load(from, items, where, valid);
  }
  template <class Iterator, class Default>
  requires std::is_convertible_v<Default, T>
  void Load(Iterator from, T (&items)[ITEMS_PER_THREAD], int valid, Default otherwise, Where where = Where::current()) {
    load(from, items, where, valid, otherwise);
  }

 private:
  static TempStorage& private_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  template <class Iterator, class... Valid>
  void load(Iterator from, T (&items)[ITEMS_PER_THREAD], Where where, Valid... valid) {
    const int thread = RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z);
    if constexpr (ALGORITHM == BLOCK_LOAD_DIRECT || ALGORITHM == BLOCK_LOAD_VECTORIZE) {
      LoadDirectBlocked(thread, from, items, valid...);
    } else {
      LoadDirectStriped<kThreads>(thread, from, items, valid...);
    }
    if constexpr (kTransposes) Exchange(storage_).StripedToBlocked(items, items, where);
  }

  TempStorage& storage_;
};

}  // namespace cub
