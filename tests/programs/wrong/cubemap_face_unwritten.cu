// expect: read of uninitialized global memory
// Five of six faces are written; the kernel reads the sixth.
__global__ void read(cudaTextureObject_t texture, float* result) {
  *result = texCubemap<float>(texture, 0.1f, 0.1f, -1.0f);
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  cudaMalloc3DArray(&resource.res.array.array, &format, make_cudaExtent(4, 4, 6), cudaArrayCubemap);
  float faces[5 * 4 * 4] = {};
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(faces, 4 * sizeof(float), 4, 4);
  copy.dstArray = resource.res.array.array;
  copy.extent = make_cudaExtent(4, 4, 5);
  copy.kind = cudaMemcpyHostToDevice;
  cudaMemcpy3D(&copy);
  cudaTextureDesc description = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &description, nullptr);
  float* result;
  cudaMalloc(&result, sizeof(float));
  read<<<1, 1>>>(texture, result);
  cudaDeviceSynchronize();
  cudaFree(result);
  cudaDestroyTextureObject(texture);
  cudaFreeArray(resource.res.array.array);
}
