#pragma once

#include "convlab/simt/cuda/cuda_on_host.h"

/// Where a thread is in its block and its warp, as CUB counts.
namespace cub {

/// Returns the thread's number in a block of these extents.
inline int RowMajorTid(int x_threads, int y_threads, int z_threads) {
  const int z = z_threads == 1 ? 0 : static_cast<int>(threadIdx.z) * x_threads * y_threads;
  const int y = y_threads == 1 ? 0 : static_cast<int>(threadIdx.y) * x_threads;
  return z + y + static_cast<int>(threadIdx.x);
}

inline unsigned LaneId() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32; }
inline unsigned WarpId() { return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) / 32; }
inline unsigned LaneMaskLt() { return (1u << LaneId()) - 1; }
inline unsigned LaneMaskLe() { return LaneMaskLt() | 1u << LaneId(); }
inline unsigned LaneMaskGt() { return ~LaneMaskLe(); }
inline unsigned LaneMaskGe() { return ~LaneMaskLt(); }

inline void CTA_SYNC(convlab::simt::Where where = convlab::simt::Where::current()) { __syncthreads(where); }
inline void WARP_SYNC(unsigned mask, convlab::simt::Where where = convlab::simt::Where::current()) {
  __syncwarp(mask, where);
}

/// Returns `bits` bits of a number from `start` on.
template <class T>
unsigned BFE(T source, unsigned start, unsigned bits) {
  return static_cast<unsigned>((static_cast<unsigned long long>(source) >> start) & ((1ull << bits) - 1));
}

}  // namespace cub
