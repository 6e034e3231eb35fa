// Gathers texels, and reads fp16 texels, layers of lines, signed normalized texels and missing channels.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

__global__ void read_half(cudaTextureObject_t texture, float* result) {
  result[0] = tex2DLod<float>(texture, 1.0f, 1.0f, 0.0f);
  result[1] = tex2DGrad<float>(texture, 0.5f, 1.0f, make_float2(0.0f, 0.0f), make_float2(0.0f, 0.0f));
  const float4 gathered = tex2Dgather<float4>(texture, 1.0f, 1.0f);
  result[2] = gathered.x;
  result[3] = gathered.y;
  result[4] = gathered.z;
  result[5] = gathered.w;
  const float4 all = tex2D<float4>(texture, 1.5f, 1.5f);
  result[6] = all.x;
  result[7] = all.y + all.z + all.w;
}

__global__ void read_layers(cudaTextureObject_t texture, float* result) {
  for (int layer = 0; layer < 2; ++layer) {
    for (int x = 0; x < 2; ++x) result[2 * layer + x] = tex1DLayered<float>(texture, x + 0.5f, layer);
  }
  result[4] = tex1DLayered<float>(texture, 0.5f, 7);  // the last layer
  result[5] = tex1DLayeredLod<float>(texture, 1.5f, 0, 0.0f);
  tex1DLayeredGrad(&result[6], texture, 0.5f, 0, 0.0f, 0.0f);
}

int failures = 0;

void expect(const char* what, const float* device, int count, const float* expected) {
  float found[8];
  CHECK(cudaMemcpy(found, device, count * sizeof(float), cudaMemcpyDeviceToHost));
  for (int i = 0; i < count; ++i) {
    const bool is_near = std::abs(found[i] - expected[i]) <= 1e-6f;
    if (!is_near && failures++ < 5) std::printf("%s, value %d: %g instead of %g\n", what, i, found[i], expected[i]);
  }
}

cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter, cudaTextureReadMode read) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc description = {};
  for (cudaTextureAddressMode& each : description.addressMode) each = cudaAddressModeClamp;
  description.filterMode = filter;
  description.readMode = read;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  return texture;
}

void test_half(float* result) {
  const __half data[] = {__float2half(1.0f), __float2half(2.0f), __float2half(4.0f), __float2half(8.5f)};
  const cudaChannelFormatDesc format = cudaCreateChannelDescHalf();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, 2, 2, cudaArrayTextureGather));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, data, 2 * sizeof(__half), 2 * sizeof(__half), 2, cudaMemcpyHostToDevice));
  const cudaTextureObject_t texture = texture_of(array, cudaFilterModeLinear, cudaReadModeElementType);
  read_half<<<1, 1>>>(texture, result);
  const float expected[] = {15.5f / 4, 2.5f, 4.0f, 8.5f, 2.0f, 1.0f, 8.5f, 0.0f};
  expect("half", result, 8, expected);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
}

void test_layers(float* result) {
  const signed char data[] = {127, -128, -127, 0};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<signed char>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(2, 0, 2), cudaArrayLayered));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<signed char*>(data), 2, 2, 1);
  copy.dstArray = array;
  copy.extent = make_cudaExtent(2, 1, 2);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const cudaTextureObject_t texture = texture_of(array, cudaFilterModePoint, cudaReadModeNormalizedFloat);
  read_layers<<<1, 1>>>(texture, result);
  const float expected[] = {1.0f, -1.0f, -1.0f, 0.0f, -1.0f, -1.0f, 1.0f};
  expect("layers", result, 7, expected);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
}

int main() {
  float* result;
  CHECK(cudaMalloc(&result, 8 * sizeof(float)));
  test_half(result);
  test_layers(result);
  CHECK(cudaFree(result));
  std::printf("%s\n", failures == 0 ? "PASSED" : "FAILED");
  return failures == 0 ? 0 : 1;
}
