// expect: data race on global memory 'array'
// Each thread writes its element of a surface and reads its neighbor's without a barrier.
#include <cstdio>

__global__ void shift(cudaSurfaceObject_t surface, int* result) {
  const int x = static_cast<int>(threadIdx.x);
  surf1Dwrite(x, surface, x * 4);
  result[x] = surf1Dread<int>(surface, (x + 1) % 64 * 4);
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  int* result;
  cudaMallocArray(&array, &format, 64, 0, cudaArraySurfaceLoadStore);
  cudaMalloc(&result, 64 * sizeof(int));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  cudaCreateSurfaceObject(&surface, &resource);
  shift<<<1, 64>>>(surface, result);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
  cudaFree(result);
  return 0;
}
