// expect: out-of-bounds read of global memory

#include <cuda_runtime.h>

// A device accepts a texture that is longer than its array; a read past the array is wrong.
__global__ void last(cudaTextureObject_t texture, int at, float* out) { *out = tex1Dfetch<float>(texture, at); }

int main() {
  float *array = nullptr, *out = nullptr;
  cudaMalloc(&array, 256 * sizeof(float));
  cudaMalloc(&out, sizeof(float));
  cudaMemset(array, 0, 256 * sizeof(float));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = array;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 512 * sizeof(float);
  cudaTextureDesc description = {};
  cudaTextureObject_t texture = 0;
  if (cudaCreateTextureObject(&texture, &resource, &description, nullptr) != cudaSuccess) return 1;
  last<<<1, 1>>>(texture, 255, out);
  last<<<1, 1>>>(texture, 256, out);
  cudaDestroyTextureObject(texture);
  cudaFree(array);
  cudaFree(out);
}
