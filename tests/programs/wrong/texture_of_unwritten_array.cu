// expect: read of uninitialized global memory 'array'
// Copies only the first row of an array, and reads both.
#include <cstdio>

__global__ void read(cudaTextureObject_t texture, float* result) {
  result[threadIdx.x] = tex2D<float>(texture, threadIdx.x % 4 + 0.5f, threadIdx.x / 4 + 0.5f);
}

int main() {
  const float data[8] = {};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 4, 2);
  cudaMemcpy2DToArray(array, 0, 0, data, 16, 16, 1, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  description.filterMode = cudaFilterModeLinear;
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  float* result;
  cudaMalloc(&result, 8 * sizeof(float));
  read<<<1, 8>>>(texture, result);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaDestroyTextureObject(texture);
  cudaFreeArray(array);
  cudaFree(result);
  return 0;
}
