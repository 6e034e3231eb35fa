// Cooperative groups: memcpy_async in two stages, of elements and bytes, by blocks and tiles, aligned or not.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

#include <cstdio>

namespace cg = cooperative_groups;

constexpr int kThreads = 64, kBytes = 77;

__global__ void copy(const float* in, float* out, int* wrong) {
  __shared__ alignas(16) float tile[2][132];
  __shared__ unsigned char bytes[2 * kBytes];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, tile[0], in, sizeof(float) * 130);
  cg::memcpy_async(block, tile[1], 130, in + 129, 128);
  cg::wait_prior<1>(block);
  out[threadIdx.x] = tile[0][threadIdx.x] + tile[0][128] + tile[0][129];
  cg::wait(block);
  out[threadIdx.x + kThreads] = tile[1][threadIdx.x] + tile[1][127];
  const auto warp = cg::tiled_partition<32>(block);
  const auto* from = reinterpret_cast<const unsigned char*>(in) + 1;
  unsigned char* own = bytes + warp.meta_group_rank() * kBytes;
  cg::memcpy_async(warp, own, from, size_t{kBytes});
  cg::wait(warp);
  for (int i = (int)warp.thread_rank(); i < kBytes; i += 32) {
    if (own[i] != from[i]) atomicAdd(wrong, 1);
  }
}

int main() {
  float host[300], *in, *out;
  int wrong = 0, *device_wrong;
  for (int i = 0; i < 300; ++i) host[i] = (float)i;
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, 2 * kThreads * sizeof(float));
  cudaMalloc(&device_wrong, sizeof(int));
  cudaMemset(device_wrong, 0, sizeof(int));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  copy<<<1, kThreads>>>(in, out, device_wrong);
  cudaMemcpy(host, out, 2 * kThreads * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(&wrong, device_wrong, sizeof(int), cudaMemcpyDeviceToHost);
  for (int i = 0; i < kThreads; ++i) wrong += host[i] != i + 128 + 129;
  for (int i = 0; i < kThreads; ++i) wrong += host[i + kThreads] != i + 129 + 256;
  cudaFree(in);
  cudaFree(out);
  cudaFree(device_wrong);
  std::printf("%s: %d wrong\n", wrong == 0 ? "PASSED" : "FAILED", wrong);
  return wrong == 0 ? 0 : 1;
}
