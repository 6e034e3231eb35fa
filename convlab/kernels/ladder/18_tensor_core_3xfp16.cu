// Splits each operand into two fp16 values: the accuracy of rung 17 at twice the rate (rung 18).

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
    .idea = "operands split in two fp16: the same accuracy at twice the rate",
    .after = "cuda.tensor_core_3xtf32",
    .threads = "8 warps compute 896 output pixels of up to 24 output channels; see tensor_core_tile.cuh.",
    .cost =
        "6 * C * R * S flops: with x = X + x' and w = W + w', where X and W are rounded to fp16, it sums W X + (W x' + "
        "w' X), as in cuda.tensor_core_3xtf32. Two fp16 hold 22 bits, as two TF32 do; the small parts are scaled by "
        "2^11 to avoid subnormals (Ootomo and Yokota, 2022). If the pixels or filters of a block reach 65504, or none "
        "reaches 2^-12, it uses direct fp32 summation. The error is relative to the largest pixels and filters: values "
        "below 2^-14 keep fewer bits.",
    .refuses =
        "Fused epilogues, uint8 input, groups, compute capability below 8.0, and pixels that exceed shared memory.",
    .limit = "Staging, and the latency of products that depend on each other.",
};

struct ThreeFp16 {
  static constexpr int kTilesAtOnce = 4;
  static constexpr bool kRanged = true;
  static constexpr int kGroup = 4, kWords = 4;  // two fp16 values per word: two words of large parts, two of small
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
    // Interleave the products of all columns, so that consecutive ones are independent. Add them to the total with fp32
    // adders: they round, while tensor cores truncate.
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

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses_tensor_core<ThreeFp16>>,
    .launch = of_conv<launch_tensor_core<ThreeFp16>>,
}};

}  // namespace
}  // namespace convlab
