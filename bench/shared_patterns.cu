// Accesses shared memory from one warp in many patterns, so that bench/counts.py can read the GPU's counters under ncu.
// With an argument, prints one line per launch, in the format of results/counts/.

#include <cstdint>
#include <cstdio>

#include <cuda_runtime.h>

namespace {

constexpr int kPatterns = 16;
constexpr uint32_t kMasks[] = {0xffffffff, 0x0000ffff, 0x55555555};

/// Returns a lane's index, in units of its access size.
__host__ __device__ int place(int pattern, int lane) {
  switch (pattern) {
    case 0:
      return lane;
    case 1:
      return 0;
    case 2:
      return lane * 2;
    case 3:
      return lane * 4;
    case 4:
      return lane / 2;
    case 5:
      return lane % 16;
    case 6:
      return lane % 8;
    case 7:
      return lane / 4;
    case 8:
      return lane * 3;
    case 9:
      return lane * 8;
    case 10:
      return lane < 16 ? lane * 16 : lane;
    case 11:
      return lane % 2 * 32 + lane / 2;
    case 12:
      return lane * 17;
    case 13:
      return lane / 8;
    case 14:
      return lane / 16 * 9;
    default:
      return lane * 5 % 32;
  }
}

__device__ float sum(float value) { return value; }
__device__ float sum(float2 value) { return value.x + value.y; }
__device__ float sum(float4 value) { return value.x + value.y + value.z + value.w; }

extern __shared__ float memory[];

template <class T>
__global__ void load(float* out, int pattern, uint32_t lanes) {
  T value{};
  if (lanes >> threadIdx.x & 1) value = reinterpret_cast<T*>(memory)[place(pattern, threadIdx.x)];
  out[threadIdx.x] = sum(value);
}

template <class T>
__global__ void store(const float* in, int pattern, uint32_t lanes) {
  const T value = reinterpret_cast<const T*>(in)[threadIdx.x];
  if (lanes >> threadIdx.x & 1) reinterpret_cast<T*>(memory)[place(pattern, threadIdx.x)] = value;
}

template <class T>
void launch(bool print, float* array, int pattern, uint32_t lanes) {
  constexpr size_t kBytes = 32768;
  for (const bool is_load : {true, false}) {
    if (print) {
      std::printf("%s %zu %08x ", is_load ? "load" : "store", sizeof(T), lanes);
      for (int lane = 0; lane < 32; ++lane) std::printf("%d%c", place(pattern, lane), lane < 31 ? ',' : '\n');
    } else if (is_load) {
      load<T><<<1, 32, kBytes>>>(array, pattern, lanes);
    } else {
      store<T><<<1, 32, kBytes>>>(array, pattern, lanes);
    }
  }
}

}  // namespace

int main(int argc, char**) {
  float* array = nullptr;
  if (argc == 1) cudaMalloc(&array, 4096);
  for (const uint32_t lanes : kMasks) {
    for (int pattern = 0; pattern < kPatterns; ++pattern) {
      launch<float>(argc > 1, array, pattern, lanes);
      launch<float2>(argc > 1, array, pattern, lanes);
      launch<float4>(argc > 1, array, pattern, lanes);
    }
  }
  return argc == 1 && cudaDeviceSynchronize() != cudaSuccess;
}
