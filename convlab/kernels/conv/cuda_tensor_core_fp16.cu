// cuda.tensor_core_fp16: implicit matrix multiply on tensor cores in fp16, summed in fp32.
// Threads: 8 warps make a band of output rows of up to 24 maps; tensor_core_tile.cuh draws the picture.
// Per output: 2 * terms() flops, at twice the rate of TF32. fp16 has the mantissa of TF32, but not its range: pixels or
//   weights beyond 65504 become infinite and those below 6e-8 zero.
// Refuses: epilogues, images of bytes, groups, GPUs before compute capability 8.0, bands beyond shared memory.
// Limited now by shared memory: halves are gathered one by one, as many loads a term as TF32 needs.

#include "convlab/kernels/conv/tensor_core_tile.cuh"
#include "convlab/kernels/registry.h"

namespace convlab {
namespace {

struct Fp16 {
  using Pixel = uint16_t;  // the bits of a half
  static constexpr int kTerms = 16, kHeld = 4;
  struct alignas(8) B {
    uint32_t terms[2];
  };

  static __device__ int term(int t, int held) { return 2 * t + held % 2 + held / 2 * 8; }
  static __device__ Pixel stage(float value) { return __half_as_ushort(__float2half_rn(value)); }
  static __device__ uint32_t pair(uint32_t low, uint32_t high) { return low | high << 16; }
  static __device__ B pack(const float (&weight)[4]) {
    return {pair(stage(weight[0]), stage(weight[1])), pair(stage(weight[2]), stage(weight[3]))};
  }

  template <int kColumns>
  static __device__ void multiply(float (&sum)[kColumns][4], const Pixel (&value)[2][4], const B (&b)[kColumns]) {
    const uint32_t a[4] = {pair(value[0][0], value[0][1]), pair(value[1][0], value[1][1]),
                           pair(value[0][2], value[0][3]), pair(value[1][2], value[1][3])};
#pragma unroll
    for (int column = 0; column < kColumns; ++column) mma_fp16(sum[column], a, b[column].terms);
  }
};

const RegisterConvKernel registered{{
    .info = {.name = "cuda.tensor_core_fp16",
             .device = kCompiledFor,
             .math = Math::fp16,
             .repeat = Repeat::bitwise,
             .rung = 16,
             .idea = "the same in fp16, summed in fp32",
             .after = "cuda.tensor_core_tf32"},
    .refuses = refuses_tensor_core<Fp16>,
    .launch = launch_tensor_core<Fp16>,
}};

}  // namespace
}  // namespace convlab
