// expect: invalid texture read
// Reads a texture of bytes as float, which needs cudaReadModeNormalizedFloat.
#include <cstdio>

__global__ void read(cudaTextureObject_t texture, float* result) {
  result[threadIdx.x] = tex1Dfetch<float>(texture, threadIdx.x);
}

int main() {
  unsigned char* bytes;
  float* result;
  cudaMalloc(&bytes, 32);
  cudaMalloc(&result, 32 * sizeof(float));
  cudaMemset(bytes, 1, 32);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = bytes;
  resource.res.linear.desc = cudaCreateChannelDesc<unsigned char>();
  resource.res.linear.sizeInBytes = 32;
  cudaTextureDesc description = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  read<<<1, 32>>>(texture, result);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaDestroyTextureObject(texture);
  cudaFree(bytes);
  cudaFree(result);
  return 0;
}
