// Writes cubemaps through surfaces, and reads them back through surfaces, textures and copies.
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

constexpr int kSize = 8, kCubes = 2, kFaces = 6, kTexels = kCubes * kFaces * kSize * kSize;

__host__ __device__ int value_at(int layer, int x, int y) { return 1000 * layer + 10 * y + x; }

__global__ void write_cube(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
  surfCubemapwrite(value_at(face, x, y), surface, x * static_cast<int>(sizeof(int)), y, face);
}

__global__ void write_cubes(cudaSurfaceObject_t surface) {
  const int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x;
  surfCubemapLayeredwrite(value_at(layer, x, y), surface, x * static_cast<int>(sizeof(int)), y, layer);
}

// Each element is read with both forms, and transposed.
__global__ void transpose(cudaSurfaceObject_t cube, cudaSurfaceObject_t cubes, int* result) {
  const int x = threadIdx.x, y = threadIdx.y, layer = blockIdx.x, at = y * static_cast<int>(sizeof(int));
  int value, same;
  if (layer < kFaces) {
    value = surfCubemapread<int>(cube, at, x, layer);
    surfCubemapread(&same, cube, at, x, layer, cudaBoundaryModeZero);
  } else {
    value = surfCubemapLayeredread<int>(cubes, at, x, layer);
    surfCubemapLayeredread(&same, cubes, at, x, layer, cudaBoundaryModeClamp);
  }
  result[(layer * kSize + y) * kSize + x] = value == same ? value : -1;
}

__global__ void read_outside(cudaSurfaceObject_t cube, int* result) {
  result[0] = surfCubemapread<int>(cube, 0, 0, kFaces, cudaBoundaryModeZero);
  result[1] = surfCubemapread<int>(cube, 0, 0, kFaces, cudaBoundaryModeClamp);
  surfCubemapwrite(-1, cube, 0, 0, -1, cudaBoundaryModeZero);
}

// The centers of all faces' texels, by direction.
__global__ void read_through_texture(cudaTextureObject_t texture, int* result, int cube) {
  const int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
  const float s = (2 * x + 1) / static_cast<float>(kSize) - 1, t = (2 * y + 1) / static_cast<float>(kSize) - 1;
  const float sign = face % 2 == 0 ? 1.0f : -1.0f;
  float3 to = make_float3(sign, -t, -sign * s);
  if (face / 2 == 1) to = make_float3(s, sign, sign * t);
  if (face / 2 == 2) to = make_float3(sign * s, -t, sign);
  result[(face * kSize + y) * kSize + x] = texCubemapLayered<int>(texture, to.x, to.y, to.z, cube);
}

int failures = 0;

void expect(const char* what, int at, int found, int expected) {
  if (found != expected && failures++ < 5) std::printf("%s at %d: %d instead of %d\n", what, at, found, expected);
}

cudaArray_t array_of(int cubes, unsigned flags) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, make_cudaExtent(kSize, kSize, kFaces * cubes),
                          cudaArrayCubemap | cudaArraySurfaceLoadStore | flags));
  return array;
}

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

cudaSurfaceObject_t surface_of(cudaArray_t array) {
  const cudaResourceDesc resource = resource_of(array);
  cudaSurfaceObject_t surface = 0;
  CHECK(cudaCreateSurfaceObject(&surface, &resource));
  return surface;
}

void test_texture(cudaArray_t cubes, int* result) {
  const cudaResourceDesc resource = resource_of(cubes);
  cudaTextureDesc description = {};
  description.normalizedCoords = 1;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &resource, &description, nullptr));
  std::vector<int> found(kTexels);
  for (int cube = 0; cube < kCubes; ++cube) {
    read_through_texture<<<kFaces, dim3(kSize, kSize)>>>(texture, result, cube);
    CHECK(cudaMemcpy(found.data(), result, sizeof(int) * kTexels / kCubes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < kTexels / kCubes; ++i) {
      const int face = i / (kSize * kSize), y = i / kSize % kSize, x = i % kSize;
      expect("texture", i, found[i], value_at(cube * kFaces + face, x, y));
    }
  }
  CHECK(cudaDestroyTextureObject(texture));
}

void test_copy(cudaArray_t cubes) {
  std::vector<int> found(kTexels);
  cudaMemcpy3DParms copy = {};
  copy.srcArray = cubes;
  copy.dstPtr = make_cudaPitchedPtr(found.data(), kSize * sizeof(int), kSize, kSize);
  copy.extent = make_cudaExtent(kSize, kSize, kFaces * kCubes);
  copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  for (int i = 0; i < kTexels; ++i) {
    expect("copy", i, found[i], value_at(i / (kSize * kSize), i % kSize, i / kSize % kSize));
  }
}

int main() {
  cudaArray_t cube = array_of(1, cudaArrayDefault), cubes = array_of(kCubes, cudaArrayLayered);
  cudaExtent extent;
  unsigned flags = 0;
  CHECK(cudaArrayGetInfo(nullptr, &extent, &flags, cubes));
  expect("depth", 0, static_cast<int>(extent.depth), kFaces * kCubes);
  expect("flags", 0, static_cast<int>(flags), cudaArrayCubemap | cudaArrayLayered | cudaArraySurfaceLoadStore);

  const cudaSurfaceObject_t to_cube = surface_of(cube), to_cubes = surface_of(cubes);
  write_cube<<<kFaces, dim3(kSize, kSize)>>>(to_cube);
  write_cubes<<<kFaces * kCubes, dim3(kSize, kSize)>>>(to_cubes);
  int* result;
  CHECK(cudaMalloc(&result, sizeof(int) * kTexels));
  transpose<<<kFaces * kCubes, dim3(kSize, kSize)>>>(to_cube, to_cubes, result);
  std::vector<int> found(kTexels);
  CHECK(cudaMemcpy(found.data(), result, sizeof(int) * kTexels, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kTexels; ++i) {
    expect("transposed", i, found[i], value_at(i / (kSize * kSize), i / kSize % kSize, i % kSize));
  }
  read_outside<<<1, 1>>>(to_cube, result);
  CHECK(cudaMemcpy(found.data(), result, sizeof(int) * 2, cudaMemcpyDeviceToHost));
  expect("outside", 0, found[0], 0);
  expect("clamped", 0, found[1], value_at(kFaces - 1, 0, 0));
  test_texture(cubes, result);
  test_copy(cubes);

  CHECK(cudaDestroySurfaceObject(to_cube));
  CHECK(cudaDestroySurfaceObject(to_cubes));
  CHECK(cudaFreeArray(cube));
  CHECK(cudaFreeArray(cubes));
  CHECK(cudaFree(result));
  if (failures == 0) std::puts("PASSED");
  return failures == 0 ? 0 : 1;
}
