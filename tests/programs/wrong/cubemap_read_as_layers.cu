// expect: tex2DLayered accesses a texture with the faces of a cubemap
// A cubemap has layers, but textures read it by direction.
__global__ void read(cudaTextureObject_t texture, float* result) {
  *result = tex2DLayered<float>(texture, 0.5f, 0.5f, 0);
}

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  cudaMalloc3DArray(&resource.res.array.array, &format, make_cudaExtent(4, 4, 6), cudaArrayCubemap);
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
