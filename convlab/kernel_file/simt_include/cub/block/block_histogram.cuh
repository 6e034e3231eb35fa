#pragma once

#include "convlab/kernel_file/simt_include/cub/detail/collective.cuh"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

/// Histograms of a block's items in shared or global memory. Items are bin numbers. Both algorithms are
/// BLOCK_HISTO_ATOMIC.
template <class T, int BLOCK_DIM_X, int ITEMS_PER_THREAD, int BINS,
          BlockHistogramAlgorithm ALGORITHM = BLOCK_HISTO_SORT, int BLOCK_DIM_Y = 1, int BLOCK_DIM_Z = 1,
          int LEGACY_PTX_ARCH = 0>
class BlockHistogram {
  using Where = detail::Where;
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z;

 public:
  struct TempStorage {
    unsigned char unused;
  };

  explicit BlockHistogram(TempStorage&) {}

  template <class Counter>
  void InitHistogram(Counter (&histogram)[BINS]) {
    for (int bin = RowMajorTid(BLOCK_DIM_X, BLOCK_DIM_Y, BLOCK_DIM_Z); bin < BINS; bin += kThreads) histogram[bin] = 0;
  }
  template <class Counter>
  void Composite(T (&items)[ITEMS_PER_THREAD], Counter (&histogram)[BINS], Where where = Where::current()) {
    for (const T& item : items) atomicAdd(&histogram[item], Counter{1}, where);
  }
  template <class Counter>
  void Histogram(T (&items)[ITEMS_PER_THREAD], Counter (&histogram)[BINS], Where where = Where::current()) {
    InitHistogram(histogram);
    __syncthreads(where);
    Composite(items, histogram, where);
  }
};

}  // namespace cub
