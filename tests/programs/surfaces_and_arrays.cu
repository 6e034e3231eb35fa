// Writes a surface and reads it back, as a surface, as a texture and by copies from the array.
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

constexpr int kWidth = 12, kHeight = 5, kDepth = 3;

__global__ void fill(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = threadIdx.y;
  surf2Dwrite(make_short2(x, -y), surface, x * static_cast<int>(sizeof(short2)), y);
  // Outside, this mode writes nothing.
  surf2Dwrite(make_short2(77, 77), surface, -static_cast<int>(sizeof(short2)), y, cudaBoundaryModeZero);
}

__global__ void copy(cudaSurfaceObject_t from, cudaTextureObject_t texture, short2* by_surface, short2* by_texture) {
  const int x = threadIdx.x, y = threadIdx.y, at = y * kWidth + x;
  // Goes to the nearest element, which is x for all but the last column.
  by_surface[at] = surf2Dread<short2>(from, (x + 1) * static_cast<int>(sizeof(short2)), y, cudaBoundaryModeClamp);
  by_texture[at] = tex2D<short2>(texture, x, y);
}

__global__ void shift(cudaSurfaceObject_t volume) {
  const int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  float value;
  surf3Dread(&value, volume, x * 4, y, z);
  surf3Dwrite(value + 0.5f, volume, x * 4, y, z);
}

int failures = 0;

void expect(bool is_right, const char* what, int at) {
  if (!is_right && failures++ < 5) std::printf("%s at %d\n", what, at);
}

void test_plane() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<short2>();
  cudaArray_t array, twin;
  CHECK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CHECK(cudaMallocArray(&twin, &format, kWidth, kHeight));
  cudaChannelFormatDesc found_format;
  cudaExtent extent;
  unsigned flags;
  CHECK(cudaArrayGetInfo(&found_format, &extent, &flags, array));
  expect(found_format.x == 16 && found_format.y == 16 && found_format.z == 0, "format", 0);
  expect(found_format.f == cudaChannelFormatKindSigned, "kind", 0);
  expect(extent.width == kWidth && extent.height == kHeight && extent.depth == 0, "extent", 0);
  expect(flags == cudaArraySurfaceLoadStore, "flags", 0);

  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  cudaTextureDesc description = {};
  description.addressMode[0] = description.addressMode[1] = cudaAddressModeBorder;
  cudaTextureObject_t texture;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  short2 *by_surface, *by_texture;
  constexpr size_t kBytes = sizeof(short2) * kWidth * kHeight, kRow = sizeof(short2) * kWidth;
  CHECK(cudaMalloc(&by_surface, kBytes));
  CHECK(cudaMalloc(&by_texture, kBytes));
  fill<<<1, dim3(kWidth, kHeight)>>>(surface);
  copy<<<1, dim3(kWidth, kHeight)>>>(surface, texture, by_surface, by_texture);
  std::vector<short2> surfaces(kWidth * kHeight), textures(kWidth * kHeight), copies(kWidth * kHeight);
  CHECK(cudaMemcpy(surfaces.data(), by_surface, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(textures.data(), by_texture, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2DArrayToArray(twin, 0, 0, array, 0, 0, kRow, kHeight, cudaMemcpyDeviceToDevice));
  CHECK(cudaMemcpy2DFromArray(copies.data(), kRow, twin, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost));
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const int at = y * kWidth + x, right = x + 1 < kWidth ? x + 1 : x;
      expect(surfaces[at].x == right && surfaces[at].y == -y, "surface", at);
      expect(textures[at].x == x && textures[at].y == -y, "texture", at);
      expect(copies[at].x == x && copies[at].y == -y, "copy", at);
    }
  }
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFree(by_surface));
  CHECK(cudaFree(by_texture));
  CHECK(cudaFreeArray(array));
  CHECK(cudaFreeArray(twin));
}

void test_volume() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
  const cudaExtent extent = make_cudaExtent(kWidth, kHeight, kDepth);
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, extent, cudaArraySurfaceLoadStore));
  std::vector<float> data(kWidth * kHeight * kDepth), found(data.size());
  for (size_t i = 0; i < data.size(); ++i) data[i] = i;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(data.data(), kWidth * sizeof(float), kWidth, kHeight);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  shift<<<1, dim3(kWidth, kHeight, kDepth)>>>(surface);
  cudaMemcpy3DParms back = {};
  back.srcArray = array;
  back.srcPos = make_cudaPos(0, 0, 1);
  back.dstPtr = make_cudaPitchedPtr(found.data(), kWidth * sizeof(float), kWidth, kHeight);
  back.extent = make_cudaExtent(kWidth, kHeight, kDepth - 1);
  back.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&back));
  for (int i = 0; i < kWidth * kHeight * (kDepth - 1); ++i) {
    expect(found[i] == data[i + kWidth * kHeight] + 0.5f, "volume", i);
  }
  CHECK(cudaDestroySurfaceObject(surface));
  CHECK(cudaFreeArray(array));
}

int main() {
  test_plane();
  test_volume();
  std::printf("%s\n", failures == 0 ? "PASSED" : "FAILED");
  return failures == 0 ? 0 : 1;
}
