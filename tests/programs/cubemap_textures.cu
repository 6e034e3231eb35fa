// Reads cubemaps in many directions, and compares with the table of the CUDA C++ Programming Guide, computed on the
// host.
#include <algorithm>
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

constexpr int kSize = 6, kCubes = 3, kFaces = 6, kDirections = 2048;

__global__ void read_cube(cudaTextureObject_t texture, const float3* directions, float* result) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float3 to = directions[i];
  const float value = texCubemap<float>(texture, to.x, to.y, to.z);
  const float4 none = make_float4(0, 0, 0, 0);
  float same;
  texCubemap(&same, texture, to.x, to.y, to.z);
  const bool is_same = value == same && value == texCubemapLod<float>(texture, to.x, to.y, to.z, 0.0f) &&
                       value == texCubemapGrad<float>(texture, to.x, to.y, to.z, none, none);
  result[i] = is_same ? value : -1.0f;
}

__global__ void read_cubes(cudaTextureObject_t texture, const float3* directions, float* result, int cube) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float3 to = directions[i];
  const float value = texCubemapLayered<float>(texture, to.x, to.y, to.z, cube);
  const float4 none = make_float4(0, 0, 0, 0);
  const bool is_same = value == texCubemapLayeredLod<float>(texture, to.x, to.y, to.z, cube, 0.0f) &&
                       value == texCubemapLayeredGrad<float>(texture, to.x, to.y, to.z, cube, none, none);
  result[i] = is_same ? value : -1.0f;
}

int failures = 0;

void expect_near(const char* what, int at, double found, double expected, double tolerance) {
  const bool is_near = std::abs(found - expected) <= tolerance;
  if (!is_near && failures++ < 5) std::printf("%s at %d: %g instead of %g\n", what, at, found, expected);
}

struct Cube {
  std::vector<float> texels = std::vector<float>(kCubes * kFaces * kSize * kSize);

  Cube() {
    for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<float>(i * 37 % 101);
  }
  double at(int layer, int x, int y) const {
    const int column = std::clamp(x, 0, kSize - 1), row = std::clamp(y, 0, kSize - 1);
    return texels[(layer * kSize + row) * kSize + column];
  }
  double toward(float3 to, int cube, bool is_linear) const {
    const double x = to.x, y = to.y, z = to.z, ax = std::abs(x), ay = std::abs(y), az = std::abs(z);
    int face;
    double s, t, m;
    if (ax > ay && ax > az) {
      face = x > 0 ? 0 : 1, m = ax, s = x > 0 ? -z : z, t = -y;
    } else if (ay > ax && ay > az) {
      face = y > 0 ? 2 : 3, m = ay, s = x, t = y > 0 ? z : -z;
    } else {
      face = z > 0 ? 4 : 5, m = az, s = z > 0 ? x : -x, t = -y;
    }
    const int layer = cube * kFaces + face;
    const double column = (s / m + 1) / 2 * kSize, row = (t / m + 1) / 2 * kSize;
    if (!is_linear) return at(layer, static_cast<int>(column), static_cast<int>(row));
    const double left = std::floor(column - 0.5), top = std::floor(row - 0.5);
    const double a = column - 0.5 - left, b = row - 0.5 - top;
    const int i = static_cast<int>(left), j = static_cast<int>(top);
    return (1 - a) * (1 - b) * at(layer, i, j) + a * (1 - b) * at(layer, i + 1, j) + (1 - a) * b * at(layer, i, j + 1) +
           a * b * at(layer, i + 1, j + 1);
  }
};

const Cube source;

cudaArray_t array_of(int cubes, unsigned flags) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const cudaExtent extent = make_cudaExtent(kSize, kSize, kFaces * cubes);
  cudaArray_t array;
  CHECK(cudaMalloc3DArray(&array, &format, extent, cudaArrayCubemap | flags));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(const_cast<float*>(source.texels.data()), kSize * sizeof(float),
                                    kSize * sizeof(float), kSize);
  copy.dstArray = array;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  return array;
}

cudaTextureObject_t texture_of(cudaArray_t array, cudaTextureFilterMode filter, bool is_seamless) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture = {};
  for (cudaTextureAddressMode& each : texture.addressMode) each = cudaAddressModeClamp;
  texture.filterMode = filter;
  texture.normalizedCoords = 1;
  texture.seamlessCubemap = is_seamless;
  cudaTextureObject_t object = 0;
  CHECK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

// Reads in all directions. A negative cube: of an array that is not layered.
std::vector<float> read(cudaTextureObject_t texture, const std::vector<float3>& directions, int cube = -1) {
  float3* to;
  float* result;
  std::vector<float> found(kDirections);
  CHECK(cudaMalloc(&to, sizeof(float3) * kDirections));
  CHECK(cudaMalloc(&result, sizeof(float) * kDirections));
  CHECK(cudaMemcpy(to, directions.data(), sizeof(float3) * kDirections, cudaMemcpyHostToDevice));
  if (cube < 0) {
    read_cube<<<kDirections / 128, 128>>>(texture, to, result);
  } else {
    read_cubes<<<kDirections / 128, 128>>>(texture, to, result, cube);
  }
  CHECK(cudaMemcpy(found.data(), result, sizeof(float) * kDirections, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(to));
  CHECK(cudaFree(result));
  return found;
}

// No texel's edge is near, so point filtering has one result.
bool is_clear(float3 to) {
  float a[3] = {std::abs(to.x), std::abs(to.y), std::abs(to.z)};
  std::sort(a, a + 3);
  if (a[2] - a[1] < 0.01f * a[2]) return false;
  for (int i = 0; i < 2; ++i) {
    const float texel = (a[i] / a[2] + 1) / 2 * kSize;
    if (std::abs(texel - std::round(texel)) < 0.01f) return false;
  }
  return true;
}

std::vector<float3> random_directions() {
  std::vector<float3> directions;
  unsigned state = 1;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1.0f;
  };
  while (directions.size() < kDirections) {
    const float x = next(), y = next(), z = next();
    const float3 to = make_float3(x, y, z);
    if (is_clear(to)) directions.push_back(to);
  }
  return directions;
}

void test_faces(const std::vector<float3>& directions) {
  cudaArray_t single = array_of(1, cudaArrayDefault), several = array_of(kCubes, cudaArrayLayered);
  for (const cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear}) {
    const bool is_linear = filter == cudaFilterModeLinear;
    const double tolerance = is_linear ? 1.0 : 0.0;  // weights have 8 bits
    const cudaTextureObject_t cube = texture_of(single, filter, false), cubes = texture_of(several, filter, false);
    const std::vector<float> found = read(cube, directions);
    for (int i = 0; i < kDirections; ++i) {
      expect_near("cubemap", i, found[i], source.toward(directions[i], 0, is_linear), tolerance);
    }
    for (int layer = 0; layer <= kCubes; ++layer) {  // one past the end: the last cubemap
      const std::vector<float> of_layer = read(cubes, directions, layer);
      for (int i = 0; i < kDirections; ++i) {
        const double expected = source.toward(directions[i], std::min(layer, kCubes - 1), is_linear);
        expect_near("layered cubemap", i, of_layer[i], expected, tolerance);
      }
    }
    CHECK(cudaDestroyTextureObject(cube));
    CHECK(cudaDestroyTextureObject(cubes));
  }
  CHECK(cudaFreeArray(single));
  CHECK(cudaFreeArray(several));
}

// With seamless filtering, both sides of an edge have the same value.
void test_seams(const std::vector<float3>& directions) {
  cudaArray_t array = array_of(1, cudaArrayDefault);
  const cudaTextureObject_t texture = texture_of(array, cudaFilterModeLinear, true);
  std::vector<float3> one = directions, other = directions;
  for (int i = 0; i < kDirections; ++i) {
    const float3 to = directions[i];
    // Two of the coordinates become the largest ones, and either is a bit larger.
    float a[3] = {to.x, to.y, to.z}, b[3] = {to.x, to.y, to.z};
    const int third = i % 3, first = (third + 1) % 3, second = (third + 2) % 3;
    a[first] = b[first] = std::copysign(1.0f, a[first]);
    a[second] = b[second] = std::copysign(1.0f, a[second]);
    a[first] *= 1.0001f;
    b[second] *= 1.0001f;
    one[i] = make_float3(a[0], a[1], a[2]);
    other[i] = make_float3(b[0], b[1], b[2]);
  }
  const std::vector<float> here = read(texture, one), there = read(texture, other);
  for (int i = 0; i < kDirections; ++i) expect_near("seam", i, here[i], there[i], 1.0);

  one[0] = make_float3(1.00001f, -0.5f, -1);
  one[1] = make_float3(1.00001f, 1, 1);
  const std::vector<float> known = read(texture, one);
  const int row = kSize * 3 / 4;  // y is between the centers of two texels
  const double edge = source.at(0, kSize - 1, row) + source.at(5, 0, row);
  expect_near("edge of +x and -z", 0, known[0], edge / 2, 0.5);
  const double corner = source.at(0, 0, 0) + source.at(2, kSize - 1, kSize - 1) + source.at(4, kSize - 1, 0);
  expect_near("corner of +x, +y and +z", 0, known[1], corner / 3, 0.5);
  CHECK(cudaDestroyTextureObject(texture));
  CHECK(cudaFreeArray(array));
}

int main() {
  const std::vector<float3> directions = random_directions();
  test_faces(directions);
  test_seams(directions);
  if (failures == 0) std::puts("PASSED");
  return failures == 0 ? 0 : 1;
}
