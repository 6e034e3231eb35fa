#pragma once

#include "tests/simt_kernels/samples.h"

// The kernels of planted_faults.cu whose threads race, or use what a copy still writes.

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

using namespace nvcuda;

__global__ void race_write_write(const float* x, float* y) {
  __shared__ float cells[16];
  cells[threadIdx.x / 2] = x[threadIdx.x] + threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = cells[threadIdx.x / 2];
}

// A barrier is missing: a neighbor's element may not be written yet.
__global__ void race_read_write(const float* x, float* y) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = threadIdx.x > 0 ? tile[threadIdx.x - 1] : 0.0f;
}

// The barrier after the use of a tile is missing: the next one is written while others read.
__global__ void race_write_read(const float* x, float* y) {
  __shared__ float tile[32];
  float sum = 0.0f;
  for (int step = 0; step < 2; ++step) {
    tile[threadIdx.x] = x[threadIdx.x + 32 * step];
    __syncthreads();
    sum += tile[(threadIdx.x + 1) % 32];
  }
  y[threadIdx.x] = sum;
}

__global__ void race_plain_and_atomic(const float* x, float* y) {
  __shared__ float sum;
  if (threadIdx.x == 0) sum = 0.0f;
  atomicAdd(&sum, x[threadIdx.x]);
  __syncthreads();
  y[threadIdx.x] = sum;
}

__global__ void race_between_warps(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void race_in_warp_without_syncwarp(const float* x, float* y) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncwarp();
  for (int delta = 16; delta > 0; delta /= 2) {
    if (threadIdx.x < delta) tile[threadIdx.x] += tile[threadIdx.x + delta];
  }
  y[threadIdx.x] = tile[threadIdx.x];
}

// A shuffle synchronizes the lanes of its mask but orders no memory.
__global__ void race_after_shuffle(const float* x, float* y) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  const float other = __shfl_xor_sync(0xffffffffu, x[threadIdx.x], 1);
  y[threadIdx.x] = other + tile[31 - threadIdx.x];
}

// Two threads write the halves of each word, which is not a race; a third thread reads one of them too early.
__global__ void race_neighboring_halves(const float* x, float* y) {
  __shared__ __half halves[32];
  halves[threadIdx.x] = __float2half(x[threadIdx.x]);
  if (threadIdx.x == 30) y[0] = __half2float(halves[11]);
}

__global__ void race_wmma_store(const float* x, float* y) {
  __shared__ __align__(32) float tile[256];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> zero;
  wmma::fill_fragment(zero, x[0]);
  wmma::store_matrix_sync(tile, zero, 16, wmma::mem_row_major);
  y[threadIdx.x] = tile[threadIdx.x];
}

// The barrier orders what threads did, but the copies may still be in flight.
__global__ void copy_not_awaited(const float* x, float* y) {
  __shared__ float tile[32];
  __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(float));
  __pipeline_commit();
  __syncthreads();
  y[threadIdx.x] = tile[31 - threadIdx.x];
}

// A thread waits only for its own copies.
__global__ void copy_awaited_after_barrier(const float* x, float* y) {
  __shared__ float tile[32];
  __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(float));
  __pipeline_commit();
  __syncthreads();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = tile[31 - threadIdx.x];
}

// A double-buffered loop that does not wait for its last copy: the last tile is in flight, over an old one.
__global__ void copy_of_last_group_not_awaited(const float* x, float* y) {
  __shared__ float tile[32];
  tile[threadIdx.x] = 0.0f;
  __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(1);
  y[threadIdx.x] = tile[threadIdx.x];
}

// The barrier after the use of a buffer is missing: thread 16 reads where thread 15, one step ahead, copies to.
__global__ void copy_into_what_others_read(const float* x, float* y) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[31 - threadIdx.x];
  __pipeline_memcpy_async(tile + threadIdx.x, x + 32 + threadIdx.x, sizeof(float));
}

__global__ void copy_misaligned(const float* x, float* y) {
  __shared__ float tile[34];
  __pipeline_memcpy_async(tile + threadIdx.x, x + threadIdx.x, 2 * sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[threadIdx.x] = tile[threadIdx.x];
}

// The sum over blocks, without an atomic.
__global__ void forgotten_atomic(const float* x, float* y) {
  if (threadIdx.x == 0) y[0] = y[0] + x[blockIdx.x];
}

__global__ void blocks_overlap(const float* x, float* y) {
  y[blockIdx.x * 31 + threadIdx.x] = x[threadIdx.x] + threadIdx.x;
}

__global__ void reads_its_neighbor(float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = threadIdx.x == 31 ? y[(i + 1) % 64] : 0.0f;
}

__global__ void plain_beside_atomic(float* y) {
  if (threadIdx.x != 3) return;
  if (blockIdx.x == 0) {
    y[5] = 1.0f;
  } else {
    atomicAdd(y + 5, 1.0f);
  }
}

// The sum over all blocks is complete only after all blocks have ended.
__global__ void reads_sum_too_early(const float* x, float* y) {
  atomicAdd(y, x[threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 1) y[32 + blockIdx.x] = y[0];
}

__global__ void flag_without_fence(float* y, unsigned* done) {
  if (threadIdx.x != 0) return;
  y[1 + blockIdx.x] = 1.0f;
  if (atomicInc(done, gridDim.x - 1) == gridDim.x - 1) y[0] = y[1] + y[2];
}

__global__ void blocks_share_a_byte(unsigned char* y) {
  if (threadIdx.x < 3) y[blockIdx.x + threadIdx.x] = threadIdx.x;
}

}  // namespace
}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
