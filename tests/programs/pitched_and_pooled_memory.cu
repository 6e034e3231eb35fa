// Pitched memory, its copies and fills, and stream-ordered allocation from pools.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                   \
    }                                                             \
  } while (0)
#define OK(call) CHECK((call) == cudaSuccess)

constexpr int kWidth = 100, kHeight = 20, kDepth = 3;

__global__ void transpose_sign(char* rows, size_t pitch) {
  float* row = reinterpret_cast<float*>(rows + blockIdx.x * pitch);
  row[threadIdx.x] = -row[threadIdx.x];
}

int check_rows() {
  std::vector<float> host(kWidth * kHeight), back(host.size());
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  char* rows;
  size_t pitch = 0;
  OK(cudaMallocPitch((void**)&rows, &pitch, kWidth * sizeof(float), kHeight));
  CHECK(pitch >= kWidth * sizeof(float) && pitch % 256 == 0);
  OK(cudaMemcpy2D(rows, pitch, host.data(), kWidth * sizeof(float), kWidth * sizeof(float), kHeight,
                  cudaMemcpyHostToDevice));
  transpose_sign<<<kHeight, kWidth>>>(rows, pitch);
  OK(cudaMemcpy2D(back.data(), kWidth * sizeof(float), rows, pitch, kWidth * sizeof(float), kHeight,
                  cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < host.size(); ++i) CHECK(back[i] == -host[i]);
  OK(cudaMemset2D(rows, pitch, 0, kWidth * sizeof(float), kHeight));
  OK(cudaMemcpy(back.data(), rows + pitch, kWidth * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(back[kWidth - 1] == 0);
  OK(cudaFree(rows));

  cudaPitchedPtr volume;
  const cudaExtent extent = make_cudaExtent(kWidth, kHeight, kDepth);
  OK(cudaMalloc3D(&volume, extent));
  OK(cudaMemset3D(volume, 7, extent));
  char last = 0;
  const size_t at = ((kDepth - 1) * volume.ysize + kHeight - 1) * volume.pitch + kWidth - 1;
  OK(cudaMemcpy(&last, static_cast<char*>(volume.ptr) + at, 1, cudaMemcpyDeviceToHost));
  CHECK(last == 7);
  OK(cudaFree(volume.ptr));
  return 0;
}

int check_pools() {
  cudaMemPool_t usual, own;
  OK(cudaDeviceGetDefaultMemPool(&usual, 0));
  uint64_t threshold = UINT64_MAX, used = 1;
  OK(cudaMemPoolSetAttribute(usual, cudaMemPoolAttrReleaseThreshold, &threshold));
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemPoolCreate(&own, &properties));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  float *a, *b;
  OK(cudaMallocAsync(&a, 4096, stream));
  OK(cudaMallocFromPoolAsync(&b, 8192, own, stream));
  OK(cudaMemsetAsync(b, 0, 8192, stream));
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(used == 8192);
  OK(cudaFreeAsync(a, stream));
  OK(cudaFreeAsync(b, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
  CHECK(used == 0);
  OK(cudaMemPoolDestroy(own));
  OK(cudaStreamDestroy(stream));
  return 0;
}

int main() {
  if (check_rows() != 0 || check_pools() != 0) return 1;
  std::printf("PASSED\n");
  return 0;
}
