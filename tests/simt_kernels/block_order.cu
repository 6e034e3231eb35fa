// Correct programs whose blocks communicate through global memory: simt must report no race.

#include "tests/simt_kernels/samples.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

// Each block stores its sum; the last one to do so adds them up and resets the counter.
__global__ void last_block_kernel(const float* x, float* sums, unsigned* done, int count) {
  __shared__ bool is_last;
  float sum = 0.0f;
  if (threadIdx.x == 0) {
    for (int i = blockIdx.x; i < count; i += gridDim.x) sum += x[i];
    sums[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicInc(done, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last || threadIdx.x != 1) return;
  sum = 0.0f;
  for (int block = 0; block < gridDim.x; ++block) sum += sums[block];
  sums[0] = sum;
  *done = 0;
}

// Each block adds to the result of the previous one, after waiting for its flag.
__global__ void chain_kernel(const float* x, float* sums, volatile int* flags) {
  if (threadIdx.x != 0) return;
  float before = 0.0f;
  if (blockIdx.x > 0) {
    while (flags[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = before + x[blockIdx.x];
  __threadfence();
  flags[blockIdx.x] = 1;
}

// An atomic maximum of floats with an atomicCAS loop, which begins with a plain read.
__global__ void guess_kernel(const float* x, int* most) {
  int seen = *most;
  const int mine = __float_as_int(x[blockIdx.x * blockDim.x + threadIdx.x]);
  while (__int_as_float(seen) < __int_as_float(mine)) {
    const int old = atomicCAS(most, seen, mine);
    if (old == seen) break;
    seen = old;
  }
  atomicAdd(most, 0);
}

// Two blocks write neighboring bytes of one word, and read what was there before the launch.
__global__ void bytes_kernel(unsigned char* values, int count) {
  for (int i = threadIdx.x; i < 5; i += blockDim.x) {
    const int at = blockIdx.x * 5 + i;
    if (at < count) values[at] = static_cast<unsigned char>(values[at] + blockIdx.x);
  }
}

}  // namespace

void sum_by_last_block(const float* x, float* sums, unsigned* done, int count, int blocks, cudaStream_t stream) {
  fill_bytes(done, 0, sizeof(unsigned), stream);
  launch(last_block_kernel, {.grid = blocks, .block = 32}, stream, x, sums, done, count);
}
void running_sum(const float* x, float* sums, int* flags, int blocks, cudaStream_t stream) {
  fill_bytes(flags, 0, static_cast<size_t>(blocks) * sizeof(int), stream);
  launch(chain_kernel, {.grid = blocks, .block = 32}, stream, x, sums, flags);
}
void largest_of_floats(const float* x, int* most, int blocks, cudaStream_t stream) {
  fill_bytes(most, 0, sizeof(int), stream);
  launch(guess_kernel, {.grid = blocks, .block = 32}, stream, x, most);
}
void add_block_to_bytes(unsigned char* values, int count, cudaStream_t stream) {
  launch(bytes_kernel, {.grid = (count + 4) / 5, .block = 2}, stream, values, count);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
