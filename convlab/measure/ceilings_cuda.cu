// Measures a GPU's ceilings: copying through memory and through L2, multiply-adds in registers and in tensor cores, and
// uploads from pinned host memory.

#include <algorithm>

#include "convlab/device/tensor_core.cuh"
#include "convlab/kernels/cuda/dense/dense_hopper.cuh"
#include "convlab/kernels/cuda/nhwc/hopper_multiply.cuh"
#include "convlab/measure/ceilings_of_device.h"

namespace convlab {
namespace {

constexpr int kThreads = 256, kWarp = 32;
constexpr int kBlocksEach = 8;  // blocks per multiprocessor: 64 warps, its maximum

/// Each block copies its own part `repeats` times, 16 bytes per thread.
__global__ void copy(const float4* from, float4* to, int64_t count, int repeats) {
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x; i < count; i += int64_t{gridDim.x} * kThreads) {
      to[i] = from[i];
    }
  }
}

constexpr int kRounds = 4096, kChains = 8;  // independent chains per thread

__global__ void multiply_add(float* sink, float factor) {
  float a[kChains];
  for (int i = 0; i < kChains; ++i) a[i] = static_cast<float>(threadIdx.x + i);
#pragma unroll 4
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) a[i] = a[i] * factor + factor;
  }
  float sum = 0;
  for (float value : a) sum += value;
  if (sum == -1.0f) *sink = sum;  // never true, but the compiler does not know that
}

template <bool kFp16>
__global__ void matrix_multiply_add(float* sink, uint32_t bits) {
  float d[kChains][4] = {};
  const uint32_t a[4] = {bits, bits, bits, bits}, b[2] = {bits, bits};
#pragma unroll 4
  for (int round = 0; round < kRounds; ++round) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) {
      if constexpr (kFp16) {
        mma_fp16(d[i], a, b, d[i]);
      } else {
        mma_tf32(d[i], a, b, d[i]);
      }
    }
  }
  float sum = 0;
  for (auto& row : d) sum += row[0] + row[1] + row[2] + row[3];
  if (sum == -1.0f) *sink = sum;
}

constexpr int kGroups = 2, kGroupRows = 64, kColumns = 256, kRowBytes = 128;  // tile of a block of warpgroups
constexpr size_t kOperandBytes = (kGroups * kGroupRows + kColumns) * kRowBytes, kOperandAlignment = 1024;

/// Runs Hopper's warpgroup MMA (WGMMA) with both operands in shared memory. `bits` is one fp32 or two fp16 values.
template <class Element>
__global__ void __launch_bounds__(kGroups * 128, 1) warpgroup_multiply_add(float* sink, uint32_t bits) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  auto* const memory = dynamic_shared<unsigned char>();
  auto* const operands = memory + (kOperandAlignment - to_shared(memory) % kOperandAlignment) % kOperandAlignment;
  for (int i = threadIdx.x; i < static_cast<int>(kOperandBytes / sizeof(uint32_t)); i += blockDim.x) {
    reinterpret_cast<uint32_t*>(operands)[i] = bits;
  }
  fence_for_async();
  __syncthreads();
  const SharedAddress b = to_shared(operands), a = b + (kColumns + threadIdx.x / 128 * kGroupRows) * kRowBytes;
  float d[kColumns / 2] = {};
  for (int round = 0; round < kRounds; ++round) {
    hold(d);
    fence_multiplications();
#pragma unroll
    for (int step = 0; step < kRowBytes / 32; ++step) {
      PixelMultiply<Element, kColumns>::run(d, pixel_operand<1>(a).later(step * 2), pixel_operand<1>(b).later(step * 2),
                                            true);
    }
    commit_multiplications();
    await_multiplications<1>();
  }
  await_multiplications();
  hold(d);
  float sum = 0;
  for (float value : d) sum += value;
  if (sum == -1.0f) *sink = sum;
#endif
}

/// Returns the best rate of several launches, amount / seconds.
template <class Launch>
double best_rate(Stream& stream, double amount, const Launch& launch_once) {
  constexpr int kTries = 6;  // the first ones also raise the clock
  double best = 0;
  for (int i = 0; i < kTries; ++i) best = std::max(best, amount / stream.time(launch_once));
  return best;
}

double copy_rate(Device& device, Stream& stream, int64_t bytes, int repeats) {
  const Buffer from = device.allocate(static_cast<size_t>(bytes)), to = device.allocate(static_cast<size_t>(bytes));
  stream.fill(from.data(), 1, from.bytes());
  const auto count = static_cast<int64_t>(bytes / sizeof(float4));
  const int64_t blocks = int64_t{device.caps().multiprocessors} * kBlocksEach;
  return best_rate(stream, 2.0 * static_cast<double>(bytes) * repeats, [&] {
    launch(copy, {.grid = {blocks}, .block = {kThreads}}, stream.native(), static_cast<const float4*>(from.data()),
           static_cast<float4*>(to.data()), count, repeats);
  });
}

double upload_rate(Device& device, Stream& stream) {
  constexpr size_t kBytes = size_t{64} << 20;
  const Buffer to = device.allocate(kBytes);
  void* from = nullptr;
  check_cuda(cudaMallocHost(&from, kBytes), "allocating pinned memory");
  const double rate = best_rate(stream, static_cast<double>(kBytes), [&] { stream.upload(to.data(), from, kBytes); });
  check_cuda(cudaFreeHost(from), "freeing pinned memory");
  return rate;
}

}  // namespace

Ceilings cuda_ceilings(Device& device, Stream& stream) {
  const DeviceCaps& caps = device.caps();
  int cache = 0, index = 0;
  check_cuda(cudaGetDevice(&index), "reading the current GPU");
  check_cuda(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, index), "reading the L2 cache size");
  const Buffer sink = device.allocate(sizeof(float));
  const int64_t blocks = int64_t{caps.multiprocessors} * kBlocksEach;
  const double threads = static_cast<double>(blocks) * kThreads, chains = double{kRounds} * kChains;
  const auto rate = [&](double flops, auto kernel, auto argument) {
    return best_rate(stream, flops, [&] {
      launch(kernel, {.grid = {blocks}, .block = {kThreads}}, stream.native(), static_cast<float*>(sink.data()),
             argument);
    });
  };
  constexpr double kM = 16, kN = 8, kTf32K = 8, kFp16K = 16;
  const double products = 2 * threads / kWarp * chains * kM * kN;
  Ceilings ceilings{.fp32_flops = rate(2 * threads * chains, multiply_add, 0.5f),
                    .memory_bytes = copy_rate(device, stream, int64_t{1} << 30, 1),
                    .cache_bytes = copy_rate(device, stream, cache / 8, 50),
                    .upload_bytes = upload_rate(device, stream),
                    .cache_size = cache};
  // Operands are ones: tensor cores draw power depending on the data, and ones need little.
  constexpr uint32_t kFloatOne = 0x3f800000u, kFp16Ones = 0x3c003c00u;
  if (runs_on_hopper(caps)) {
    const double pairs = double{kGroups} * kGroupRows * kColumns * kRounds * caps.multiprocessors;
    const auto by_warpgroups = [&](double k, auto kernel, uint32_t ones) {
      return best_rate(stream, 2 * pairs * k, [&] {
        launch(kernel,
               {.grid = {caps.multiprocessors},
                .block = {kGroups * 128},
                .shared_bytes = kOperandBytes + kOperandAlignment},
               stream.native(), static_cast<float*>(sink.data()), ones);
      });
    };
    ceilings.tf32_flops = by_warpgroups(kRowBytes / sizeof(float), warpgroup_multiply_add<float>, kFloatOne);
    ceilings.fp16_flops = by_warpgroups(kRowBytes / sizeof(__half), warpgroup_multiply_add<__half>, kFp16Ones);
  } else if (caps.compute_capability >= 80) {
    ceilings.tf32_flops = rate(products * kTf32K, matrix_multiply_add<false>, kFloatOne);
    ceilings.fp16_flops = rate(products * kFp16K, matrix_multiply_add<true>, kFp16Ones);
  }
  return ceilings;
}

}  // namespace convlab
