#pragma once

#include "convlab/kernel_file/simt_include/cub/block/block_exchange.cuh"
#include "convlab/kernel_file/simt_include/cub/block/block_scan.cuh"

namespace cub {

/// Sorts the keys of a block, and values with them, stably. Blocked to blocked; the functions ...BlockedToStriped leave
/// the result in a striped arrangement. Each pass splits the keys by one bit with a BlockScan and a BlockExchange,
/// whatever RADIX_BITS says. A kernel needs a barrier before it uses the TempStorage again.
template <class KeyT, int BLOCK_DIM_X, int ITEMS_PER_THREAD, class ValueT = NullType, int RADIX_BITS = 4,
          bool MEMOIZE_OUTER_SCAN = true, BlockScanAlgorithm INNER_SCAN_ALGORITHM = BLOCK_SCAN_WARP_SCANS,
          cudaSharedMemConfig SMEM_CONFIG = cudaSharedMemBankSizeFourByte, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1,
          int LEGACY_PTX_ARCH = 0>
class BlockRadixSort {
  using Where = detail::Where;
  using Scan = BlockScan<int, BLOCK_DIM_X, BLOCK_SCAN_WARP_SCANS, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  using KeyExchange = BlockExchange<KeyT, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  using ValueExchange = BlockExchange<ValueT, BLOCK_DIM_X, ITEMS_PER_THREAD, false, BLOCK_DIM_Y, BLOCK_DIM_Z>;
  static constexpr bool kHasValues = !std::is_same_v<ValueT, NullType>;
  static constexpr int kAllBits = sizeof(KeyT) * 8;
  using Keys = KeyT[ITEMS_PER_THREAD];
  using Values = ValueT[ITEMS_PER_THREAD];

 public:
  struct TempStorage {
    typename Scan::TempStorage scan;
    typename KeyExchange::TempStorage keys;
    std::conditional_t<kHasValues, typename ValueExchange::TempStorage, NullType> values;
  };

  BlockRadixSort() : storage_(private_storage()) {}
  explicit BlockRadixSort(TempStorage& storage) : storage_(storage) {}

  void Sort(Keys& keys, int begin_bit = 0, int end_bit = kAllBits, Where where = Where::current()) {
    sort(keys, nullptr, begin_bit, end_bit, false, where);
  }
  void Sort(Keys& keys, Values& values, int begin_bit = 0, int end_bit = kAllBits, Where where = Where::current()) {
    sort(keys, &values, begin_bit, end_bit, false, where);
  }
  void SortDescending(Keys& keys, int begin_bit = 0, int end_bit = kAllBits, Where where = Where::current()) {
    sort(keys, nullptr, begin_bit, end_bit, true, where);
  }
  void SortDescending(Keys& keys, Values& values, int begin_bit = 0, int end_bit = kAllBits,
                      Where where = Where::current()) {
    sort(keys, &values, begin_bit, end_bit, true, where);
  }
  void SortBlockedToStriped(Keys& keys, int begin_bit = 0, int end_bit = kAllBits, Where where = Where::current()) {
    sort(keys, nullptr, begin_bit, end_bit, false, where);
    stripe(keys, nullptr, where);
  }
  void SortBlockedToStriped(Keys& keys, Values& values, int begin_bit = 0, int end_bit = kAllBits,
                            Where where = Where::current()) {
    sort(keys, &values, begin_bit, end_bit, false, where);
    stripe(keys, &values, where);
  }
  void SortDescendingBlockedToStriped(Keys& keys, int begin_bit = 0, int end_bit = kAllBits,
                                      Where where = Where::current()) {
    sort(keys, nullptr, begin_bit, end_bit, true, where);
    stripe(keys, nullptr, where);
  }
  void SortDescendingBlockedToStriped(Keys& keys, Values& values, int begin_bit = 0, int end_bit = kAllBits,
                                      Where where = Where::current()) {
    sort(keys, &values, begin_bit, end_bit, true, where);
    stripe(keys, &values, where);
  }

 private:
  static TempStorage& private_storage() {
    __shared__ TempStorage storage;
    return storage;
  }

  void sort(Keys& keys, Values* values, int begin_bit, int end_bit, bool descending, Where where) {
    const int first = RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z) * ITEMS_PER_THREAD;
    for (int bit = begin_bit; bit < end_bit; ++bit) {
      bool goes_last[ITEMS_PER_THREAD];
      int own_zeros = 0, zeros_before = 0, zeros = 0;
      for (int i = 0; i < ITEMS_PER_THREAD; ++i) {
        goes_last[i] = (detail::ordered_bits(keys[i]) >> bit & 1u) != (descending ? 1u : 0u);
        own_zeros += goes_last[i] ? 0 : 1;
      }
      Scan(storage_.scan).ExclusiveSum(own_zeros, zeros_before, zeros, where);
      int ranks[ITEMS_PER_THREAD];
      for (int i = 0; i < ITEMS_PER_THREAD; ++i) {
        ranks[i] = goes_last[i] ? zeros + first + i - zeros_before : zeros_before;
        zeros_before += goes_last[i] ? 0 : 1;
      }
      KeyExchange(storage_.keys).ScatterToBlocked(keys, keys, ranks, where);
      if constexpr (kHasValues) {
        if (values != nullptr) ValueExchange(storage_.values).ScatterToBlocked(*values, *values, ranks, where);
      }
    }
  }

  void stripe(Keys& keys, Values* values, Where where) {
    __syncthreads(where);
    KeyExchange(storage_.keys).BlockedToStriped(keys, keys, where);
    if constexpr (kHasValues) {
      if (values != nullptr) ValueExchange(storage_.values).BlockedToStriped(*values, *values, where);
    }
  }

  TempStorage& storage_;
};

}  // namespace cub
