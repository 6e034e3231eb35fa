#include "convlab/kernels/ladder/tensor_core_tile.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.tensor_core_3xfp16",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = 18,
    .rank = 30,
    .idea = "operands split in halves: the same accuracy at twice the rate",
    .after = "cuda.tensor_core_3xtf32",
    .threads = "8 warps make 896 output pixels of up to 24 maps; tensor_core_tile.cuh draws the picture.",
    .cost =
        "6 * terms() flops: with x = X + x' and w = W + w', X and W rounded to fp16 and x', w' the rest, it sums W X + "
        "(W x' + w' X), as in cuda.tensor_core_3xtf32. Two halves hold 22 bits, as two TF32 do; the small ones are "
        "scaled by 2^11, so that they are not subnormal where the large ones are not (Ootomo and Yokota, 2022). Where "
        "pixels or filters of a block reach 65504 or none reaches 2^-12, it sums by definition instead, in fp32. The "
        "error is relative to the largest pixels and filters: below 2^-14, a value keeps fewer bits the smaller it is.",
    .refuses = "epilogues, images of bytes, groups, GPUs before compute capability 8.0, pixels beyond shared memory.",
    .limit = "staging, and the latency of products that wait for each other.",
};

struct ThreeFp16 {
  static constexpr int kTilesAtOnce = 4;
  static constexpr bool kRanged = true;
  static constexpr int kGroup = 4, kWords = 4;  // two halves a word: two words of large parts, two of small ones
  struct alignas(16) B {
    uint32_t large[2], small[2];
  };

  static __device__ uint32_t bits(__half2 pair) {
    return __half_as_ushort(__low2half(pair)) | uint32_t{__half_as_ushort(__high2half(pair))} << 16;
  }
  static __device__ uint32_t stage(int word, const float (&value)[4]) {
    const float first = value[word % 2 * 2], second = value[word % 2 * 2 + 1];
    const __half2 large = __floats2half2_rn(first, second);
    if (word < 2) return bits(large);
    constexpr float kScale = 2048;
    return bits(__floats2half2_rn((first - __low2float(large)) * kScale, (second - __high2float(large)) * kScale));
  }
  static __device__ B pack(const float (&weight)[4]) {
    return {{stage(0, weight), stage(1, weight)}, {stage(2, weight), stage(3, weight)}};
  }

  template <int kColumns>
  static __device__ void multiply(float (&sum)[kColumns][4], const uint32_t (&words)[2][4], const B (&b)[kColumns]) {
    const uint32_t large[4] = {words[0][0], words[1][0], words[0][1], words[1][1]};
    const uint32_t small[4] = {words[0][2], words[1][2], words[0][3], words[1][3]};
    // Products take turns over all columns, so that none waits for the one before. Adders add them to the total: they
    // round, while tensor cores truncate.
    float products[kColumns][4], small_products[kColumns][4];
    constexpr float kZero[4] = {};
#pragma unroll
    for (int column = 0; column < kColumns; ++column) mma_fp16(small_products[column], large, b[column].small, kZero);
#pragma unroll
    for (int column = 0; column < kColumns; ++column) mma_fp16(products[column], large, b[column].large, kZero);
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      mma_fp16(small_products[column], small, b[column].large, small_products[column]);
    }
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[column][i] += products[column][i] + small_products[column][i] * 0x1p-11f;
    }
  }
};

const RegisterConvKernel registered{{
    .info = kInfo,
    .refuses = refuses_tensor_core<ThreeFp16>,
    .launch = launch_tensor_core<ThreeFp16>,
}};

}  // namespace
}  // namespace convlab
