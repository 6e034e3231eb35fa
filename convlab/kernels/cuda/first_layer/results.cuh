#pragma once

#include "convlab/device/pipeline.cuh"
#include "convlab/kernels/cuda/first_layer/first_shape.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// Stores of a first layer's results from shared memory to the output, in stretches: the longest contiguous ranges of a
// band. A stretch is staged at the same offset from a line of 128 bytes as in the output. So it needs no alignment: its
// middle is whole vectors on both sides, and less than a vector before and after it is copied word by word. Bulk stores
// copy it unchanged; if the offsets differ, they take a quarter longer on an H200.

/// A range of `bytes` bytes, a multiple of 4, to be stored at `to`. It is in shared memory at `from`, which equals `to`
/// modulo 128.
struct Stretch {
  unsigned char* to;
  const unsigned char* from;
  int bytes;

  __device__ int head() const { return min(bytes, static_cast<int>(-reinterpret_cast<uintptr_t>(to) & 15)); }
  __device__ int middle() const { return (bytes - head()) & ~15; }
  __device__ int tail() const { return bytes - head() - middle(); }
  __device__ void copy_word(int at) const {
    *reinterpret_cast<uint32_t*>(to + at) = *reinterpret_cast<const uint32_t*>(from + at);
  }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CONVLAB_BULK_STORES 1  // cp.async.bulk needs compute capability 9.0
#else
#define CONVLAB_BULK_STORES 0
#endif

#if CONVLAB_BULK_STORES
/// Returns the L2 cache policy of a store: evict first, or normal.
inline __device__ uint64_t store_policy(bool evict_first) {
  uint64_t first, normal;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
  return evict_first ? first : normal;
}
#endif

/// Stores stretches(0) to stretches(count - 1), one warp each. All threads take part, each after a fence_for_async()
/// and a barrier. Bulk stores are only started.
template <class Stretches>
__device__ void store_stretches(int count, [[maybe_unused]] bool evict_first, const Stretches& stretches) {
  const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
#if CONVLAB_BULK_STORES
  if (lane != 0) return;
  const uint64_t policy = store_policy(evict_first);
#pragma unroll 1
  for (int i = threadIdx.x / 32; i < count; i += warps) {
    const Stretch stretch = stretches(i);
    const int head = stretch.head(), middle = stretch.middle();
    if (middle > 0) {
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(stretch.to + head),
          "r"(to_shared(stretch.from + head)), "r"(middle), "l"(policy)
          : "memory");
    }
#pragma unroll 1
    for (int at = 0; at < head; at += 4) stretch.copy_word(at);
#pragma unroll 1
    for (int at = head + middle; at < stretch.bytes; at += 4) stretch.copy_word(at);
  }
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#else
  for (int i = threadIdx.x / 32; i < count; i += warps) {
    const Stretch stretch = stretches(i);
    const int head = stretch.head(), middle = stretch.middle();
    for (int at = head + lane * 16; at < head + middle; at += 32 * 16) {
      *reinterpret_cast<uint4*>(stretch.to + at) = *reinterpret_cast<const uint4*>(stretch.from + at);
    }
    if (lane * 4 < head) stretch.copy_word(lane * 4);
    if (lane * 4 < stretch.tail()) stretch.copy_word(head + middle + lane * 4);
  }
#endif
}

/// Waits until all but the last kLeft calls of store_stretches have read the results that this thread had them store.
/// After a barrier, this holds for all threads.
template <int kLeft>
__device__ void wait_for_stores() {
#if CONVLAB_BULK_STORES
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
