// expect: surfCubemapwrite accesses 4 bytes at (0, 0, 6)
// Writes one face too many.
__global__ void fill(cudaSurfaceObject_t surface) { surfCubemapwrite(1.0f, surface, 0, 0, blockIdx.x); }

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  cudaMalloc3DArray(&resource.res.array.array, &format, make_cudaExtent(4, 4, 6),
                    cudaArrayCubemap | cudaArraySurfaceLoadStore);
  cudaSurfaceObject_t surface;
  cudaCreateSurfaceObject(&surface, &resource);
  fill<<<7, 1>>>(surface);
  cudaDeviceSynchronize();
  cudaDestroySurfaceObject(surface);
  cudaFreeArray(resource.res.array.array);
}
