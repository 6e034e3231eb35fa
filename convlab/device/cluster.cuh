#pragma once

// Thread block clusters, whose blocks access each other's shared memory (distributed shared memory), on GPUs of compute
// capability 9.0 or higher. A kernel declared CONVLAB_CLUSTER(blocks) is launched with clusters of that many blocks.
// Terms are those of the PTX ISA.

#include "convlab/device/pipeline.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDACC__

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#define CONVLAB_CLUSTER(blocks) __cluster_dims__(blocks, 1, 1)
#else
#define CONVLAB_CLUSTER(blocks)
#endif

#if __CUDA_ARCH__ >= 900

/// Returns this block's rank in its cluster.
inline __device__ int rank_in_cluster() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Returns the address in another block's shared memory that corresponds to `address` in this block's.
inline __device__ SharedAddress in_block(SharedAddress address, int block) {
  SharedAddress there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}

/// A barrier of all threads of the cluster, with release and acquire semantics. Arriving is slow while stores to global
/// memory are pending.
inline __device__ void arrive_at_cluster() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
inline __device__ void await_cluster() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
inline __device__ void synchronize_cluster() {
  arrive_at_cluster();
  await_cluster();
}

/// Makes the mbarriers that this thread has initialized visible to other blocks after the next cluster barrier.
inline __device__ void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// A faster arrival (relaxed) for threads that have published nothing to other blocks except mbarriers.
inline __device__ void arrive_with_barriers() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }

/// Writes to another block's shared memory and counts the bytes at that block's barrier. Both addresses are those of
/// the corresponding variables in this block.
inline __device__ void send(float value, const float* to, const uint64_t* barrier, int block) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(in_block(to_shared(to), block)),
      "f"(value), "r"(in_block(to_shared(barrier), block))
      : "memory");
}

/// Copies to another block's shared memory and counts the bytes at that block's barrier. Addresses and `bytes` are
/// multiples of 16. `to` and `barrier` are the addresses of the corresponding variables in this block. Data that other
/// threads wrote to `from` needs the same fence as in copy_bulk().
inline __device__ void send_bulk(SharedAddress from, SharedAddress to, uint32_t bytes, const uint64_t* barrier,
                                 int block) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   in_block(to, block)),
               "r"(from), "r"(bytes), "r"(in_block(to_shared(barrier), block))
               : "memory");
}

#endif  // __CUDA_ARCH__ >= 900

#endif  // __CUDACC__

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
