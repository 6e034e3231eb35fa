// expect: out-of-bounds access to a surface
// Writes one column past the end of each row.
#include <cstdio>

__global__ void write(cudaSurfaceObject_t surface) {
  surf2Dwrite(1.0f, surface, static_cast<int>(threadIdx.x * sizeof(float)), threadIdx.y);
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 7, 2, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  cudaCreateSurfaceObject(&surface, &resource);
  write<<<1, dim3(8, 2)>>>(surface);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(array);
  return 0;
}
