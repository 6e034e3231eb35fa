// Splits each operand into two TF32 values, for fp32-class accuracy on tensor cores (rung 17).

#include "convlab/kernels/ladder/tensor_core_tile.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

constexpr KernelInfo kInfo{
    .name = "cuda.tensor_core_3xtf32",
    .device = kCompiledFor,
    .math = Math::fp32,
    .sum = Sum::split,
    .rung = 17,
    .idea = "operands split in two: fp32-class accuracy from tensor cores",
    .after = "cuda.tensor_core_tf32",
    .threads = "8 warps compute 896 output pixels of up to 24 output channels; see tensor_core_tile.cuh.",
    .cost =
        "6 * C * R * S flops: with x = X + x' and w = W + w', where X and W are rounded to TF32, it sums W X + (W x' + "
        "w' X); w' x' is below 2^-22 of the product and omitted (Ootomo and Yokota, \"Recovering single precision "
        "accuracy from Tensor Cores\", 2022). Tensor cores sum within a step, fp32 adders sum the steps.",
    .refuses =
        "Fused epilogues, uint8 input, groups, compute capability below 8.0, and pixels that exceed shared memory.",
    .limit =
        "Tensor cores: the three products of a sum depend on each other. An infinite pixel gives NaN, because it has "
        "no finite remainder.",
};

struct Split {
  uint32_t large, small;
};

/// Splits a value into TF32 and a remainder. The remainder has more bits than TF32; tensor cores truncate them.
__device__ Split split(float value) {
  const uint32_t large = (__float_as_uint(value) + 0x1000u) & 0xffffe000u;  // round to nearest
  return {large, __float_as_uint(value - __uint_as_float(large))};
}

struct ThreeTf32 {
  static constexpr int kTilesAtOnce = 4;
  static constexpr bool kRanged = false;
  static constexpr int kGroup = 2, kWords = 2;  // split just before multiplying: shared memory holds one word, not two
  struct alignas(8) B {
    float terms[2];
  };

  static __device__ uint32_t stage(int word, const float (&value)[2]) { return __float_as_uint(value[word]); }
  static __device__ B pack(const float (&weight)[2]) { return {weight[0], weight[1]}; }

  template <int kColumns>
  static __device__ void multiply(float (&sum)[kColumns][4], const uint32_t (&words)[2][2], const B (&b)[kColumns]) {
    uint32_t large[4], small[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Split a = split(__uint_as_float(words[i % 2][i / 2]));
      large[i] = a.large;
      small[i] = a.small;
    }
    // Interleave the products of all columns, so that consecutive ones are independent. Add their sum to the total with
    // fp32 adders: they round, while tensor cores truncate.
    float products[kColumns][4];
    constexpr float kZero[4] = {};
    Split filter[kColumns][2];
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
      filter[column][0] = split(b[column].terms[0]);
      filter[column][1] = split(b[column].terms[1]);
      const uint32_t small_filter[2] = {filter[column][0].small, filter[column][1].small};
      mma_tf32(products[column], large, small_filter, kZero);
    }
#pragma unroll
    for (int part = 0; part < 2; ++part) {
#pragma unroll
      for (int column = 0; column < kColumns; ++column) {
        const uint32_t large_filter[2] = {filter[column][0].large, filter[column][1].large};
        mma_tf32(products[column], part == 0 ? small : large, large_filter, products[column]);
      }
    }
#pragma unroll
    for (int column = 0; column < kColumns; ++column) {
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[column][i] += products[column][i];
    }
  }
};

const RegisterKernel registered{{
    .info = kInfo,
    .refuses = of_conv<refuses_tensor_core<ThreeTf32>>,
    .launch = of_conv<launch_tensor_core<ThreeTf32>>,
}};

}  // namespace
}  // namespace convlab
