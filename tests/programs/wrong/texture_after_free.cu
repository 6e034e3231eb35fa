// expect: use of global memory 'array' after it was freed
// Frees the array of a texture before the kernel that reads it.
#include <cstdio>

__global__ void read(cudaTextureObject_t texture, float* result) {
  result[threadIdx.x] = tex2D<float>(texture, threadIdx.x, 0.0f);
}

int main() {
  const float data[8] = {};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 4, 2);
  cudaMemcpy2DToArray(array, 0, 0, data, 16, 16, 2, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  cudaFreeArray(array);
  float* result;
  cudaMalloc(&result, 4 * sizeof(float));
  read<<<1, 4>>>(texture, result);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  return 0;
}
