#pragma once

// Blocks of a cluster, which see each other's shared memory, on GPUs of compute capability 9.0 and more. A kernel is
// launched with clusters of so many blocks if it is declared CONVLAB_CLUSTER(blocks). Names and meanings are those of
// the PTX ISA.

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

/// This block's number in its cluster.
inline __device__ int rank_in_cluster() {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// Where another block of the cluster has what this block has at an address.
inline __device__ SharedAddress in_block(SharedAddress address, int block) {
  SharedAddress there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}

/// A barrier of all threads of the cluster, which then see what these wrote before they arrived. To arrive takes long
/// where stores to global memory are under way.
inline __device__ void arrive_at_cluster() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }
inline __device__ void await_cluster() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }
inline __device__ void synchronize_cluster() {
  arrive_at_cluster();
  await_cluster();
}

/// Lets other blocks of the cluster use barriers that this thread has made, once they have met it at the cluster's.
inline __device__ void publish_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

/// The quicker arrival of threads of which others see nothing but published barriers.
inline __device__ void arrive_with_barriers() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }

/// Writes to another block's shared memory, and counts these bytes at its barrier. Both addresses are as this block has
/// them.
inline __device__ void send(float value, const float* to, const uint64_t* barrier, int block) {
  asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];" ::"r"(in_block(to_shared(to), block)),
      "f"(value), "r"(in_block(to_shared(barrier), block))
      : "memory");
}

/// Copies to another block's shared memory, addresses and `bytes` multiples of 16, and counts them at its barrier. Both
/// addresses in that block are as this one has them. Other threads' writes: as copy_bulk() wants them.
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
