#pragma once

// wgmma for 64 pixels by kColumns output channels: D = A * B + (add ? D : 0), with K = 16 in fp16 or 8 in TF32, and D
// in fp32. A is in shared memory or in registers; there, a warp holds the mma fragments of its 16 pixels. For each 8
// columns, a thread holds the elements of D that WarpgroupMultiply describes (device/hopper_wgmma.cuh).

#ifdef __CUDACC__

#include "convlab/device/hopper.cuh"
#include "convlab/device/tensor_core.cuh"

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Descriptor of an operand in shared memory (PTX ISA, "Matrix descriptor format"). It is two 32-bit words because
/// 64-bit additions take so long that wgmmas with few columns wait for them.
struct PixelOperand {
  uint32_t low, high;

  /// Returns the descriptor advanced by `by` * 16 bytes.
  __device__ PixelOperand later(int by) const { return {low + by, high}; }
};

/// Returns the descriptor of rows of 128 / kTaps bytes, swizzled as in hopper_maps.cuh.
template <int kTaps>
__device__ PixelOperand pixel_operand(SharedAddress rows) {
  constexpr uint32_t kSwizzle = kTaps == 1 ? 1 : kTaps == 2 ? 2 : 3, kEightRows = 128 / kTaps * 8 / 16;
  return {.low = 1u << 16 | rows >> 4, .high = kSwizzle << 30 | kEightRows};
}

template <class Element, int kColumns>
struct PixelMultiply;

#define CONVLAB_D16(i)                                                                                        \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7]), "+f"(d[i + 8]), "+f"(d[i + 9]), "+f"(d[i + 10]), "+f"(d[i + 11]), "+f"(d[i + 12]),      \
      "+f"(d[i + 13]), "+f"(d[i + 14]), "+f"(d[i + 15])
#define CONVLAB_NAMES0 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define CONVLAB_NAMES16 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define CONVLAB_NAMES32 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define CONVLAB_NAMES48 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define CONVLAB_NAMES64 "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"
#define CONVLAB_NAMES80 "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define CONVLAB_NAMES96 "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111"
#define CONVLAB_NAMES112 "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
// `kind`: K and types. `order_ab`, `order_b`: flags that operands in shared memory are not transposed; only fp16 has
// them.
#define CONVLAB_MULTIPLY_OF(element, kind, order_ab, order_b, columns, count, names, n0, n1, n2, n3, n4, n5, n6, ...)  \
  template <>                                                                                                          \
  struct PixelMultiply<element, columns> {                                                                             \
    static __device__ void run(float (&d)[count], PixelOperand a, PixelOperand b, bool add) {                          \
      asm volatile("{.reg .pred p; .reg .b64 a, b; mov.b64 a, {" n0 "," n1 "}; mov.b64 b, {" n2 "," n3                 \
                   "};"                                                                                                \
                   " setp.ne.b32 p, " n4                                                                               \
                   ", 0;\n"                                                                                            \
                   "wgmma.mma_async.sync.aligned.m64n" #columns kind " {" names "}, a, b, p, 1, 1" order_ab ";}\n"     \
                   : __VA_ARGS__                                                                                       \
                   : "r"(a.low), "r"(a.high), "r"(b.low), "r"(b.high), "r"(static_cast<int>(add)));                    \
    }                                                                                                                  \
    static __device__ void run(float (&d)[count], const uint32_t (&a)[4], PixelOperand b, bool add) {                  \
      asm volatile("{.reg .pred p; .reg .b64 b; mov.b64 b, {" n4 "," n5 "}; setp.ne.b32 p, " n6                        \
                   ", 0;\n"                                                                                            \
                   "wgmma.mma_async.sync.aligned.m64n" #columns kind " {" names "}, {" n0 "," n1 "," n2 "," n3         \
                   "}, b, p, 1, 1" order_b ";}\n"                                                                      \
                   : __VA_ARGS__                                                                                       \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.low), "r"(b.high), "r"(static_cast<int>(add))); \
    }                                                                                                                  \
  };
#define CONVLAB_MULTIPLY(columns, ...)                                                  \
  CONVLAB_MULTIPLY_OF(__half, "k16.f32.f16.f16", ", 0, 0", ", 0", columns, __VA_ARGS__) \
  CONVLAB_MULTIPLY_OF(float, "k8.f32.tf32.tf32", "", "", columns, __VA_ARGS__)
CONVLAB_MULTIPLY(32, 16, CONVLAB_NAMES0, "%16", "%17", "%18", "%19", "%20", "%21", "%22", CONVLAB_D16(0))
CONVLAB_MULTIPLY(64, 32, CONVLAB_NAMES0 "," CONVLAB_NAMES16, "%32", "%33", "%34", "%35", "%36", "%37", "%38",
                 CONVLAB_D16(0), CONVLAB_D16(16))
CONVLAB_MULTIPLY(128, 64, CONVLAB_NAMES0 "," CONVLAB_NAMES16 "," CONVLAB_NAMES32 "," CONVLAB_NAMES48, "%64", "%65",
                 "%66", "%67", "%68", "%69", "%70", CONVLAB_D16(0), CONVLAB_D16(16), CONVLAB_D16(32), CONVLAB_D16(48))
CONVLAB_MULTIPLY(256, 128,
                 CONVLAB_NAMES0 "," CONVLAB_NAMES16 "," CONVLAB_NAMES32 "," CONVLAB_NAMES48 "," CONVLAB_NAMES64
                                "," CONVLAB_NAMES80 "," CONVLAB_NAMES96 "," CONVLAB_NAMES112,
                 "%128", "%129", "%130", "%131", "%132", "%133", "%134", CONVLAB_D16(0), CONVLAB_D16(16),
                 CONVLAB_D16(32), CONVLAB_D16(48), CONVLAB_D16(64), CONVLAB_D16(80), CONVLAB_D16(96), CONVLAB_D16(112))

#undef CONVLAB_MULTIPLY
#undef CONVLAB_MULTIPLY_OF
#undef CONVLAB_NAMES0
#undef CONVLAB_NAMES16
#undef CONVLAB_NAMES32
#undef CONVLAB_NAMES48
#undef CONVLAB_NAMES64
#undef CONVLAB_NAMES80
#undef CONVLAB_NAMES96
#undef CONVLAB_NAMES112
#undef CONVLAB_D16

#endif  // __CUDA_ARCH_FEAT_SM90_ALL

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab

#endif  // __CUDACC__
