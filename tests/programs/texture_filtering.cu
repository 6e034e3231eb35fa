// Reads arrays, linear memory and pitched memory through textures, with each filter and address mode, and compares with
// the formulas of the CUDA C++ Programming Guide, computed on the host.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                              \
  do {                                                                           \
    const cudaError_t error = (call);                                            \
    if (error != cudaSuccess) {                                                  \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(1);                                                              \
    }                                                                            \
  } while (0)

constexpr int kSize = 8, kSteps = 640;

__host__ __device__ float coordinate(int step, bool normalized) {
  const float at = (step - 160) / 32.0f + 1.0f / 128;
  return normalized ? at / kSize : at;
}

__global__ void read_line(cudaTextureObject_t texture, float* result, bool normalized) {
  const int step = blockIdx.x * blockDim.x + threadIdx.x;
  if (step < kSteps) result[step] = tex1D<float>(texture, coordinate(step, normalized));
}

__global__ void read_plane(cudaTextureObject_t texture, float4* result, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < width && y < height) result[y * width + x] = tex2D<float4>(texture, x + 0.75f, y + 0.25f);
}

__global__ void read_volume(cudaTextureObject_t texture, float* result, int size) {
  const int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
  tex3D(&result[(z * size + y) * size + x], texture, x + 1.0f, y + 0.5f, z + 0.5f);
}

__global__ void read_layers(cudaTextureObject_t texture, int* result, int width, int height) {
  const int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
  const int value = tex2DLayered<int>(texture, x, y, layer);
  const float2 none = make_float2(0, 0);
  const bool is_same = value == tex2DLayeredLod<int>(texture, x, y, layer, 0.0f) &&
                       value == tex2DLayeredGrad<int>(texture, x, y, layer, none, none);
  result[(layer * height + y) * width + x] = is_same ? value : -1;
}

__global__ void fetch(cudaTextureObject_t texture, uchar2* result, int count) {
  const int i = threadIdx.x;
  result[i] = tex1Dfetch<uchar2>(texture, count - 1 - i);
}

int failures = 0;

void expect_near(const char* what, int at, double found, double expected) {
  // The number of bits of the weights is documented, but not how a coordinate between two weights is rounded.
  const bool is_near = std::abs(found - expected) <= 0.02;
  if (!is_near && failures++ < 5) std::printf("%s at %d: %g instead of %g\n", what, at, found, expected);
}

double texel(const std::vector<float>& data, int i, cudaTextureAddressMode mode, float border) {
  const int size = static_cast<int>(data.size());
  if (mode == cudaAddressModeWrap) return data[((i % size) + size) % size];
  if (mode == cudaAddressModeBorder) return i < 0 || i >= size ? border : data[i];
  if (mode == cudaAddressModeMirror) {
    const int folded = ((i % (2 * size)) + 2 * size) % (2 * size);
    return data[folded < size ? folded : 2 * size - 1 - folded];
  }
  return data[i < 0 ? 0 : i >= size ? size - 1 : i];
}

double expected_at(const std::vector<float>& data, double x, cudaTextureFilterMode filter, cudaTextureAddressMode mode,
                   float border) {
  if (filter == cudaFilterModePoint) return texel(data, static_cast<int>(std::floor(x)), mode, border);
  const double shifted = x - 0.5, weight = shifted - std::floor(shifted);
  const int i = static_cast<int>(std::floor(shifted));
  return (1 - weight) * texel(data, i, mode, border) + weight * texel(data, i + 1, mode, border);
}

cudaTextureObject_t texture_of(const cudaResourceDesc& resource, cudaTextureFilterMode filter,
                               cudaTextureAddressMode mode, bool normalized,
                               cudaTextureReadMode read = cudaReadModeElementType, float border = 0.0f) {
  cudaTextureDesc texture = {};
  for (cudaTextureAddressMode& each : texture.addressMode) each = cudaAddressModeClamp;
  texture.addressMode[0] = mode;
  texture.filterMode = filter;
  texture.readMode = read;
  texture.normalizedCoords = normalized;
  for (float& each : texture.borderColor) each = border;
  cudaTextureObject_t object = 0;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

void test_line() {
  const std::vector<float> data = {1, 5, 2, 8, 3, 9, 4, 7};
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  CHECK(cudaMallocArray(&array, &format, kSize));
  CHECK(cudaMemcpy2DToArray(array, 0, 0, data.data(), sizeof(float) * kSize, sizeof(float) * kSize, 1,
                            cudaMemcpyHostToDevice));
  float* result;
  CHECK(cudaMalloc(&result, sizeof(float) * kSteps));
  std::vector<float> found(kSteps);
  for (const cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    for (int mode = 0; mode < 4; ++mode) {
      for (const bool normalized : {false, true}) {
        const auto address = static_cast<cudaTextureAddressMode>(mode);
        // Only normalized coordinates repeat.
        const auto expected_mode = mode % 2 == 0 && !normalized ? cudaAddressModeClamp : address;
        const cudaTextureObject_t texture =
            texture_of(resource_of(array), filter, address, normalized, cudaReadModeElementType, 2.5f);
        read_line<<<kSteps / 64, 64>>>(texture, result, normalized);
        CHECK(cudaMemcpy(found.data(), result, sizeof(float) * kSteps, cudaMemcpyDeviceToHost));
        for (int step = 0; step < kSteps; ++step) {
          const double x = coordinate(step, normalized) * static_cast<double>(normalized ? kSize : 1);
          expect_near("line", step, found[step], expected_at(data, x, filter, expected_mode, 2.5f));
        }
        CHECK(cudaDestroyTextureObject(texture));
      }
    }
  }
  CHECK(cudaFree(result));
  CHECK(cudaFreeArray(array));
}

// Four channels of 8 bits in pitched memory, read as normalized float.
void test_pitched() {
  constexpr int kWidth = 20, kHeight = 5, kPitch = 128;
  std::vector<unsigned char> data(kPitch * kHeight);
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<unsigned char>(i * 7 % 256);
  unsigned char* memory;
  CHECK(cudaMalloc(&memory, data.size()));
  CHECK(cudaMemcpy(memory, data.data(), data.size(), cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypePitch2D;
  resource.res.pitch2D.devPtr = memory;
  resource.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  resource.res.pitch2D.width = kWidth;
  resource.res.pitch2D.height = kHeight;
  resource.res.pitch2D.pitchInBytes = kPitch;
  const cudaTextureObject_t texture =
      texture_of(resource, cudaFilterModeLinear, cudaAddressModeClamp, false, cudaReadModeNormalizedFloat);
  float4* result;
  CHECK(cudaMalloc(&result, sizeof(float4) * kWidth * kHeight));
  read_plane<<<dim3(1, kHeight), 32>>>(texture, result, kWidth, kHeight);
  std::vector<float4> found(kWidth * kHeight);
  CHECK(cudaMemcpy(found.data(), result, sizeof(float4) * found.size(), cudaMemcpyDeviceToHost));
  const auto at = [&](int x, int y, int c) {
    const int column = x < kWidth ? x : kWidth - 1, row = y < 0 ? 0 : y;
    return data[row * kPitch + column * 4 + c] / 255.0;
  };
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const float4 texel = found[y * kWidth + x];
      const float channels[] = {texel.x, texel.y, texel.z, texel.w};
      for (int c = 0; c < 4; ++c) {
        // (x + 0.75, y + 0.25) is a quarter past the center of x, and three quarters past that of y - 1.
        const double above = 0.75 * at(x, y - 1, c) + 0.25 * at(x + 1, y - 1, c);
        const double below = 0.75 * at(x, y, c) + 0.25 * at(x + 1, y, c);
        expect_near("pitched", y * kWidth + x, channels[c], 0.25 * above + 0.75 * below);
      }
    }
  }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(result));
  CHECK(cudaFree(memory));
}

void test_volume() {
  constexpr int kEdge = 4;
  std::vector<float> data(kEdge * kEdge * kEdge), found(data.size());
  for (size_t i = 0; i < data.size(); ++i) data[i] = i * i % 31;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(kEdge, kEdge, kEdge);
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(data.data(), kEdge * sizeof(float), kEdge, kEdge);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const cudaTextureObject_t texture = texture_of(resource_of(array), cudaFilterModeLinear, cudaAddressModeClamp, false);
  float* result;
  CHECK(cudaMalloc(&result, sizeof(float) * data.size()));
  read_volume<<<kEdge, dim3(kEdge, kEdge)>>>(texture, result, kEdge);
  CHECK(cudaMemcpy(found.data(), result, sizeof(float) * found.size(), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < data.size(); ++i) {
    const size_t next = i % kEdge == kEdge - 1 ? i : i + 1;
    expect_near("volume", static_cast<int>(i), found[i], (data[i] + data[next]) / 2);
  }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(result));
  CHECK(cudaFreeArray(array));
}

void test_layers() {
  constexpr int kWidth = 6, kHeight = 3, kLayers = 2;
  std::vector<int> data(kWidth * kHeight * kLayers), found(data.size());
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int>(i) - 9;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  const cudaExtent extent = make_cudaExtent(kWidth, kHeight, kLayers);
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, extent, cudaArrayLayered));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(data.data(), kWidth * sizeof(int), kWidth, kHeight);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  const cudaTextureObject_t texture = texture_of(resource_of(array), cudaFilterModePoint, cudaAddressModeClamp, false);
  int* result;
  CHECK(cudaMalloc(&result, sizeof(int) * data.size()));
  read_layers<<<kLayers, dim3(kWidth, kHeight)>>>(texture, result, kWidth, kHeight);
  CHECK(cudaMemcpy(found.data(), result, sizeof(int) * found.size(), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < data.size(); ++i) expect_near("layers", static_cast<int>(i), found[i], data[i]);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(result));
  CHECK(cudaFreeArray(array));
}

void test_linear_memory() {
  constexpr int kCount = 16;
  std::vector<uchar2> data(kCount), found(kCount + 2);
  for (int i = 0; i < kCount; ++i) data[i] = make_uchar2(i, 200 + i);
  uchar2 *memory, *result;
  CHECK(cudaMalloc(&memory, sizeof(uchar2) * kCount));
  CHECK(cudaMalloc(&result, sizeof(uchar2) * found.size()));
  CHECK(cudaMemcpy(memory, data.data(), sizeof(uchar2) * kCount, cudaMemcpyHostToDevice));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<uchar2>();
  resource.res.linear.sizeInBytes = sizeof(uchar2) * kCount;
  const cudaTextureObject_t texture = texture_of(resource, cudaFilterModePoint, cudaAddressModeClamp, false);
  fetch<<<1, kCount + 2>>>(texture, result, kCount + 1);
  CHECK(cudaMemcpy(found.data(), result, sizeof(uchar2) * found.size(), cudaMemcpyDeviceToHost));
  for (int i = 0; i < kCount + 2; ++i) {
    const int from = kCount - i;
    const bool is_inside = from >= 0 && from < kCount;
    expect_near("linear x", i, found[i].x, is_inside ? data[from].x : 0);
    expect_near("linear y", i, found[i].y, is_inside ? data[from].y : 0);
  }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFree(result));
  CHECK(cudaFree(memory));
}

int main() {
  test_line();
  test_pitched();
  test_volume();
  test_layers();
  test_linear_memory();
  std::printf("%s\n", failures == 0 ? "PASSED" : "FAILED");
  return failures == 0 ? 0 : 1;
}
