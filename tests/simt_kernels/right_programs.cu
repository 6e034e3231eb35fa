// Correct programs: simt must report no fault in them.

#include "tests/simt_kernels/samples.h"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {
namespace {

using namespace nvcuda;

template <int kTile>
__global__ void matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                              int n, int k) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y;
  const int column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0.0f;
  for (int base = 0; base < k; base += kTile) {
    const int a_column = base + threadIdx.x;
    const int b_row = base + threadIdx.y;
    a_tile[threadIdx.y][threadIdx.x] = row < m && a_column < k ? a[row * k + a_column] : 0.0f;
    b_tile[threadIdx.y][threadIdx.x] = b_row < k && column < n ? b[b_row * n + column] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

__global__ void tree_kernel(const float* __restrict__ x, float* __restrict__ sums, int count) {
  __shared__ float partial[256];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += x[i];
  partial[threadIdx.x] = sum;
  __syncthreads();
  for (int half_count = blockDim.x / 2; half_count > 0; half_count /= 2) {
    if (threadIdx.x < half_count) partial[threadIdx.x] += partial[threadIdx.x + half_count];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

__device__ __forceinline__ float sum_of_warp(float value) {
  for (int delta = warpSize / 2; delta > 0; delta /= 2) value += __shfl_down_sync(0xffffffffu, value, delta);
  return value;
}

__global__ void shuffle_kernel(const float* __restrict__ x, float* __restrict__ sums, int count) {
  __shared__ float of_warp[32];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) sum += __ldg(x + i);
  sum = sum_of_warp(sum);
  const int lane = threadIdx.x % warpSize;
  const int warp = threadIdx.x / warpSize;
  if (lane == 0) of_warp[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    sum = lane < blockDim.x / warpSize ? of_warp[lane] : 0.0f;
    sum = sum_of_warp(sum);
    if (lane == 0) sums[blockIdx.x] = sum;
  }
}

// The halves of a warp diverge and synchronize separately, through shared memory and through shuffles.
__global__ void partial_masks_kernel(const float* __restrict__ x, float* __restrict__ sums) {
  __shared__ float values[32];
  const int lane = threadIdx.x;
  float sum = 0.0f;
  if (lane < 16) {
    values[lane] = x[lane];
    __syncwarp(0x0000ffffu);
    sum = values[15 - lane];
    __syncwarp(0x0000ffffu);
    values[lane] = sum;
    for (int delta = 8; delta > 0; delta /= 2) sum += __shfl_xor_sync(0x0000ffffu, sum, delta);
  } else {
    values[lane] = x[lane];
    for (int delta = 8; delta > 0; delta /= 2) {
      __syncwarp(0xffff0000u);
      if (lane < 16 + delta) values[lane] += values[lane + delta];
    }
    __syncwarp(0xffff0000u);
    sum = values[16];
  }
  __syncwarp();
  if (lane == 0) sums[0] = sum;
  if (lane == 16) sums[1] = sum;
  if (lane == 31) sums[2] = values[0];
}

__global__ void histogram_kernel(const int* __restrict__ values, int count, int* __restrict__ bins) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    atomicAdd(&local[values[i]], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Each thread writes one byte of a word that four threads share.
__global__ void bytes_kernel(const unsigned char* __restrict__ values, int count, unsigned char* __restrict__ out) {
  __shared__ unsigned char reversed[128];
  if (threadIdx.x < count) reversed[count - 1 - threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < count) out[threadIdx.x] = reversed[threadIdx.x];
}

__constant__ float constant_factors[8];

__global__ void constant_kernel(const float* __restrict__ x, float* __restrict__ y, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = x[i] * constant_factors[i % 8];
}

__global__ void vectors_kernel(const float* __restrict__ x, float* __restrict__ y, int count) {
  __shared__ float4 staged[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count / 4) staged[threadIdx.x] = reinterpret_cast<const float4*>(x)[i];
  __syncthreads();
  if (i < count / 4) {
    float4 v = staged[threadIdx.x];
    v.x += v.x;
    v.y += v.y;
    const float2 rest = make_float2(2.0f * v.z, 2.0f * v.w);
    reinterpret_cast<float4*>(y)[i] = make_float4(v.x, v.y, rest.x, rest.y);
  }
}

// Each thread copies four floats of a tile while all threads sum the previous tile. The last tile may not exist.
__global__ void copies_kernel(const float* x, float* sums, int tiles, int exist) {
  __shared__ __align__(16) float buffers[2][64];
  const auto begin_copying = [&](int tile) {
    const int at = tile * 64 + threadIdx.x * 4, missing = min(max(at + 4 - exist, 0), 4);
    __pipeline_memcpy_async(&buffers[tile % 2][threadIdx.x * 4], x + (missing < 4 ? at : 0), 4 * sizeof(float),
                            missing * sizeof(float));
  };
  float sum = 0;
  begin_copying(0);
  __pipeline_commit();
  for (int tile = 0; tile < tiles; ++tile) {
    if (tile + 1 < tiles) begin_copying(tile + 1);
    __pipeline_commit();  // an empty group after the last tile
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = 0; i < 4; ++i) sum += buffers[tile % 2][i * 16 + threadIdx.x];
    __syncthreads();
  }
  sums[threadIdx.x] = sum;
}

__global__ void votes_kernel(const int* __restrict__ x, unsigned* __restrict__ out) {
  const int value = x[threadIdx.x];
  const unsigned positive = __ballot_sync(0xffffffffu, value > 0);
  const int any = __any_sync(0xffffffffu, value > 30);
  const int all = __all_sync(0xffffffffu, value > 30);
  const int largest = __reduce_max_sync(0xffffffffu, value);
  const unsigned sum = __reduce_add_sync(0xffffffffu, static_cast<unsigned>(value));
  const int first = __shfl_sync(0xffffffffu, value, 0);
  const int before = __shfl_up_sync(0xffffffffu, value, 1, 8);
  if (threadIdx.x == 8) {
    out[0] = positive;
    out[1] = any;
    out[2] = all;
    out[3] = largest;
    out[4] = sum;
    out[5] = first;
    out[6] = before;
    out[7] = __popc(positive);
  }
}

__global__ void block_votes_kernel(const int* __restrict__ x, int* __restrict__ out) {
  const int value = x[threadIdx.x];
  const int count = __syncthreads_count(value > 0);
  const int any = __syncthreads_or(value < 0);
  const int all = __syncthreads_and(value >= 0);
  if (threadIdx.x == 0) {
    out[0] = count;
    out[1] = any;
    out[2] = all;
  }
}

__global__ void halves_kernel(const float* __restrict__ x, float* __restrict__ y) {
  __shared__ __half tile[16][18];
  tile[threadIdx.y][threadIdx.x] = __float2half(x[threadIdx.y * 16 + threadIdx.x]);
  __syncthreads();
  y[threadIdx.y * 16 + threadIdx.x] = __half2float(tile[threadIdx.x][threadIdx.y]);
}

// `factor` is written and read only if `use` is set; any other load of it would be the compiler's.
__global__ void conditional_scalar_kernel(const float* __restrict__ x, float* __restrict__ y, int count, bool use) {
  __shared__ float factor;
  __shared__ float pair[2];
  if (use && threadIdx.x == 0) factor = pair[1] = x[0];
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < count; ++i) {
    if (use) sum += factor * x[i];
    sum += use ? pair[1] : 1.0f;
  }
  y[threadIdx.x] = sum;
}

__global__ void active_lanes_kernel(unsigned* out) {
  const int lane = threadIdx.x;
  const unsigned together = __activemask();
  if (lane == 0) out[0] = together;
  if (lane % 2 == 0) {
    const unsigned even = __activemask();
    if (lane == 0) out[1] = even;
  } else if (lane > 20) {
    return;
  }
  const unsigned left = __activemask();
  if (lane == 0) out[2] = left;
}

__global__ void atomics_kernel(int* out) {
  __shared__ int shared[4];
  __shared__ unsigned turns;
  __shared__ float sum;
  if (threadIdx.x < 4) shared[threadIdx.x] = threadIdx.x == 1 ? 1000 : 0;
  if (threadIdx.x == 0) turns = 0, sum = 0.0f;
  __syncthreads();
  const int me = threadIdx.x;
  atomicMax(&shared[0], me);
  atomicMin(&shared[1], me - 5);
  atomicOr(&shared[2], 1 << (me % 20));
  atomicExch(&shared[3], 7);
  atomicInc(&turns, 9);
  atomicAdd(&sum, 0.5f);
  int old = out[6];
  while (true) {
    const int seen = atomicCAS(&out[6], old, old + 3);
    if (seen == old) break;
    old = seen;
  }
  __syncthreads();
  if (me < 4) out[me] = shared[me];
  if (me == 4) out[4] = static_cast<int>(turns);
  if (me == 5) out[5] = static_cast<int>(sum);
}

// One warp computes a 16 x 16 tile of c; the operands go through shared memory, rounded to fp16 there.
__global__ void fp16_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                            int n, int k) {
  __shared__ __align__(32) half a_tile[16 * 16];
  __shared__ __align__(32) half b_tile[16 * 24];
  __shared__ __align__(32) float c_tile[16 * 16];
  const int row0 = blockIdx.y * 16;
  const int column0 = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int base = 0; base < k; base += 16) {
    for (int i = threadIdx.x; i < 256; i += 32) {
      const int row = i / 16, column = i % 16;
      const bool in_a = row0 + row < m && base + column < k;
      const bool in_b = base + row < k && column0 + column < n;
      a_tile[row * 16 + column] = __float2half(in_a ? a[(row0 + row) * k + base + column] : 0.0f);
      b_tile[column * 24 + row] = __float2half(in_b ? b[(base + row) * n + column0 + column] : 0.0f);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> right;
    wmma::load_matrix_sync(left, a_tile, 16);
    wmma::load_matrix_sync(right, b_tile, 24);
    wmma::mma_sync(sum, left, right, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(c_tile, sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) {
    if (row0 + i / 16 < m && column0 + i % 16 < n) c[(row0 + i / 16) * n + column0 + i % 16] = c_tile[i];
  }
}

// The same in TF32. kSplit: each operand is the sum of two TF32 numbers, which takes three products.
template <bool kSplit>
__global__ void tf32_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m,
                            int n, int k) {
  __shared__ __align__(32) float a_tile[16 * 8];
  __shared__ __align__(32) float b_tile[8 * 16];
  __shared__ __align__(32) float c_tile[16 * 16];
  using Left = wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
  using Right = wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major>;
  const int row0 = blockIdx.y * 16;
  const int column0 = blockIdx.x * 16;
  wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  for (int base = 0; base < k; base += 8) {
    for (int i = threadIdx.x; i < 128; i += 32) {
      const int a_row = i / 8, a_column = i % 8, b_row = i / 16, b_column = i % 16;
      a_tile[i] = row0 + a_row < m && base + a_column < k ? a[(row0 + a_row) * k + base + a_column] : 0.0f;
      b_tile[i] = base + b_row < k && column0 + b_column < n ? b[(base + b_row) * n + column0 + b_column] : 0.0f;
    }
    __syncwarp();
    Left left, left_rest;
    Right right, right_rest;
    wmma::load_matrix_sync(left, a_tile, 8);
    wmma::load_matrix_sync(right, b_tile, 16);
    for (int i = 0; i < left.num_elements; ++i) {
      const float rounded = wmma::__float_to_tf32(left.x[i]);
      left_rest.x[i] = wmma::__float_to_tf32(left.x[i] - rounded);
      left.x[i] = rounded;
    }
    for (int i = 0; i < right.num_elements; ++i) {
      const float rounded = wmma::__float_to_tf32(right.x[i]);
      right_rest.x[i] = wmma::__float_to_tf32(right.x[i] - rounded);
      right.x[i] = rounded;
    }
    if (kSplit) {
      wmma::mma_sync(sum, left_rest, right, sum);
      wmma::mma_sync(sum, left, right_rest, sum);
    }
    wmma::mma_sync(sum, left, right, sum);
    __syncwarp();
  }
  wmma::store_matrix_sync(c_tile, sum, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) {
    if (row0 + i / 16 < m && column0 + i % 16 < n) c[(row0 + i / 16) * n + column0 + i % 16] = c_tile[i];
  }
}

// A single member of a vector may be loaded at any address.
__global__ void members_kernel(const float* x, float* y) {
  y[threadIdx.x] = reinterpret_cast<const float4*>(x + threadIdx.x)->x;
}

__global__ void print_kernel(int lines) {
  for (int i = 0; i < lines; ++i) printf("block %d thread %d line %d\n", blockIdx.x, threadIdx.x, i);
}

}  // namespace

void matmul_tiled(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
  launch(matmul_kernel<16>, {.grid = {(n + 15) / 16, (m + 15) / 16}, .block = {16, 16}}, stream, a, b, c, m, n, k);
}
void sum_by_tree(const float* x, float* sums, int count, int blocks, cudaStream_t stream) {
  launch(tree_kernel, {.grid = blocks, .block = 256}, stream, x, sums, count);
}
void sum_by_shuffles(const float* x, float* sums, int count, int blocks, cudaStream_t stream) {
  launch(shuffle_kernel, {.grid = blocks, .block = 256}, stream, x, sums, count);
}
void sum_with_partial_masks(const float* x, float* sums, cudaStream_t stream) {
  launch(partial_masks_kernel, {.grid = 1, .block = 32}, stream, x, sums);
}
void histogram(const int* values, int count, int* bins, cudaStream_t stream) {
  fill_bytes(bins, 0, 16 * sizeof(int), stream);
  launch(histogram_kernel, {.grid = 8, .block = 128}, stream, values, count, bins);
}
void histogram_of_bytes(const unsigned char* values, int count, unsigned char* out, cudaStream_t stream) {
  launch(bytes_kernel, {.grid = 1, .block = 128}, stream, values, count, out);
}
void scale_by_constant(const float* factors, const float* x, float* y, int count, cudaStream_t stream) {
  copy_to_constant(constant_factors, factors, sizeof(constant_factors), stream);
  scale_by_constant_again(x, y, count, stream);
}
void scale_by_constant_again(const float* x, float* y, int count, cudaStream_t stream) {
  launch(constant_kernel, {.grid = (count + 63) / 64, .block = 64}, stream, x, y, count);
}
void matmul_fp16(const float* a, const float* b, float* c, int m, int n, int k, cudaStream_t stream) {
  launch(fp16_kernel, {.grid = {(n + 15) / 16, (m + 15) / 16}, .block = 32}, stream, a, b, c, m, n, k);
}
void matmul_tf32(const float* a, const float* b, float* c, int m, int n, int k, bool split, cudaStream_t stream) {
  launch(split ? tf32_kernel<true> : tf32_kernel<false>, {.grid = {(n + 15) / 16, (m + 15) / 16}, .block = 32}, stream,
         a, b, c, m, n, k);
}
void double_with_vectors(const float* x, float* y, int count, cudaStream_t stream) {
  launch(vectors_kernel, {.grid = (count / 4 + 31) / 32, .block = 32}, stream, x, y, count);
}
void sum_by_copies(const float* x, float* sums, int tiles, int exist, cudaStream_t stream) {
  launch(copies_kernel, {.block = 16}, stream, x, sums, tiles, exist);
}
void votes(const int* x, unsigned* out, cudaStream_t stream) { launch(votes_kernel, {.block = 32}, stream, x, out); }
void block_votes(const int* x, int* out, int threads, cudaStream_t stream) {
  launch(block_votes_kernel, {.grid = 1, .block = threads}, stream, x, out);
}
void transpose_halves(const float* x, float* y, cudaStream_t stream) {
  launch(halves_kernel, {.grid = 1, .block = {16, 16}}, stream, x, y);
}
void conditional_scalar(const float* x, float* y, int count, bool use, cudaStream_t stream) {
  launch(conditional_scalar_kernel, {.grid = 1, .block = 32}, stream, x, y, count, use);
}
void active_lanes(unsigned* out, cudaStream_t stream) { launch(active_lanes_kernel, {.block = 32}, stream, out); }
void atomics_of_all_kinds(int* out, cudaStream_t stream) {
  fill_bytes(out, 0, 7 * sizeof(int), stream);
  launch(atomics_kernel, {.grid = 1, .block = 64}, stream, out);
}
void members_of_vectors(const float* x, float* y, cudaStream_t stream) {
  launch(members_kernel, {.grid = 1, .block = 32}, stream, x, y);
}
void print_threads(int lines, int blocks, cudaStream_t stream) {
  launch(print_kernel, {.grid = blocks, .block = 2}, stream, lines);
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
