// Inline PTX on real numbers against CUDA's intrinsics: roundings, .ftz, .sat, halves, comparisons and cvt.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cmath>
#include <cstdio>
#include <cstring>

constexpr int kResults = 48;

__device__ unsigned bits(float x) { return __float_as_uint(x); }
__device__ unsigned long long bits(double x) { return __double_as_longlong(x); }

__global__ void compute(const float* values, unsigned long long* results) {
  const int i = threadIdx.x;
  const float x = values[i], y = values[(i + 5) % blockDim.x];
  const double dx = x * 1.0000000001, dy = y;
  unsigned long long* r = results + 2 * i * kResults;
  int n = 0;
  const auto put = [&](unsigned long long got, unsigned long long want) {
    r[n++] = got;
    r[n++] = want;
  };
  float f;
  double d;
  int s;
  unsigned u;
  asm("add.rz.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
  put(bits(f), bits(__fadd_rz(x, y)));
  asm("sub.rm.f64 %0, %1, %2;" : "=d"(d) : "d"(dx), "d"(dy));
  put(bits(d), bits(__dsub_rd(dx, dy)));
  asm("mul.rp.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
  put(bits(f), bits(__fmul_ru(x, y)));
  asm("fma.rn.f32 %0, %1, %2, 0f3F800000;" : "=f"(f) : "f"(x), "f"(y));
  put(bits(f), bits(fmaf(x, y, 1.0f)));
  asm("mul.f32 %0, %1, 0.25;" : "=f"(f) : "f"(x));
  put(bits(f), bits(x * 0.25f));
  asm("fma.rn.sat.f32 %0, %1, 2.0, %2;" : "=f"(f) : "f"(x), "f"(y));
  put(bits(f), bits(__saturatef(fmaf(x, 2.0f, y))));
  asm("div.rn.f64 %0, %1, %2;" : "=d"(d) : "d"(dx), "d"(dy));
  put(bits(d), bits(dx / dy));
  asm("max.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(NAN));
  put(bits(f), bits(x));
  asm("abs.f32 %0, %1;" : "=f"(f) : "f"(x));
  put(bits(f), bits(fabsf(x)));
  asm("mul.ftz.f32 %0, %1, 0f00800000;" : "=f"(f) : "f"(x * 0.0001f));
  put(bits(f), bits(fabsf(x * 0.0001f) < 1 ? copysignf(0.0f, x) : x * 0.0001f * 0x1p-126f));
  asm("sqrt.rn.f32 %0, %1;" : "=f"(f) : "f"(fabsf(x)));
  put(bits(f), bits(__fsqrt_rn(fabsf(x))));
  asm("copysign.f32 %0, %1, %2;" : "=f"(f) : "f"(x), "f"(y));
  put(bits(f), bits(copysignf(y, x)));
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(s) : "f"(x));
  put(s, __float2int_rz(x));
  asm("cvt.rpi.u32.f64 %0, %1;" : "=r"(u) : "d"(dx));
  put(u, __double2uint_ru(dx));
  asm("cvt.rni.f32.f32 %0, %1;" : "=f"(f) : "f"(x));
  put(bits(f), bits(rintf(x)));
  asm("cvt.rn.f32.s32 %0, %1;" : "=f"(f) : "r"(static_cast<int>(bits(x))));
  put(bits(f), bits(__int2float_rn(static_cast<int>(bits(x)))));
  asm("cvt.rm.f32.f64 %0, %1;" : "=f"(f) : "d"(dx));
  put(bits(f), bits(__double2float_rd(dx)));
  asm("cvt.f64.f32 %0, %1;" : "=d"(d) : "f"(x));
  put(bits(d), bits(static_cast<double>(x)));
  asm("cvt.s32.s8 %0, %1;" : "=r"(s) : "r"(static_cast<int>(bits(x) >> 16)));
  put(s, static_cast<signed char>(bits(x) >> 16));
  asm("cvt.sat.u8.s32 %0, %1;" : "=r"(u) : "r"(__float2int_rn(x)));
  put(u, x <= 0 ? 0 : x >= 255 ? 255 : __float2int_rn(x));
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(u) : "f"(x));
  put(u, (bits(x) + 0x1000u) & 0xffffe000u);
  unsigned short h, h2;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
  put(h, __half_as_ushort(__float2half_rn(x)));
  asm("cvt.rz.f16.f32 %0, %1;" : "=h"(h2) : "f"(x));
  put(h2, __half_as_ushort(__float2half_rz(x)));
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  put(bits(f), bits(__half2float(__float2half_rn(x))));
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h2) : "f"(x));
  put(h2, __bfloat16_as_ushort(__float2bfloat16_rn(x)));
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(u) : "f"(x), "f"(y));
  const unsigned high = __half_as_ushort(__float2half_rn(x)), low = __half_as_ushort(__float2half_rn(y));
  put(u, high << 16 | low);
  unsigned pair;
  asm("{ .reg .b16 l, h;\n mov.b32 {l, h}, %1;\n mov.b32 %0, {h, l}; }" : "=r"(pair) : "r"(u));
  put(pair, low << 16 | high);
  asm("fma.rn.f16x2 %0, %1, %2, %1;" : "=r"(u) : "r"(pair), "r"(0x40003c00));  // 2 and 1
  const __half2 sum = __hfma2(__halves2half2(__ushort_as_half(high), __ushort_as_half(low)),
                              __halves2half2(__ushort_as_half(0x3c00), __ushort_as_half(0x4000)),
                              __halves2half2(__ushort_as_half(high), __ushort_as_half(low)));
  put(u, static_cast<unsigned>(__half_as_ushort(__high2half(sum))) << 16 | __half_as_ushort(__low2half(sum)));
  asm("{.reg .pred p, q; setp.lt.f32 p|q, %1, %2; selp.s32 %0, 1, 2, p; @q add.s32 %0, %0, 10; }"
      : "=r"(s)
      : "f"(x), "f"(y));
  put(s, x < y ? 1 : 12);
  asm("{.reg .pred p; setp.gtu.f32 p, %1, 0f7FC00000; selp.b32 %0, 7, 8, p;}" : "=r"(s) : "f"(x));
  put(s, 7);
  asm("set.ge.u32.s32 %0, %1, -3;" : "=r"(u) : "r"(__float2int_rz(x)));
  put(u, __float2int_rz(x) >= -3 ? 0xffffffffu : 0);
  asm("slct.f32.s32 %0, %1, %2, %3;" : "=f"(f) : "f"(x), "f"(y), "r"(i % 2 == 0 ? -1 : 0));
  put(bits(f), bits(i % 2 == 0 ? y : x));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(f) : "f"(y / 1024));
  const float error = fabsf(f - exp2f(y / 1024)) / exp2f(y / 1024);
  put(error < 1e-6f, 1);
  asm("rsqrt.approx.f32 %0, %1;" : "=f"(f) : "f"(fabsf(x) + 1));
  put(fabsf(f * sqrtf(fabsf(x) + 1) - 1) < 1e-6f, 1);
  asm("tanh.approx.f32 %0, %1;" : "=f"(f) : "f"(x));
  put(fabsf(f - tanhf(x)) < 1e-3f, 1);
  while (n < 2 * kResults) put(0, 0);
}

int main() {
  constexpr int kCases = 14;
  const float given[kCases] = {0.5f,   -0.5f,  1.5f,     2.5f,       -3.75f,  100.25f, -1e-3f,
                               300.7f, -77.1f, 1.00001f, 65000.125f, 0.3333f, 12.0f,   -1.0f};
  float* values = nullptr;
  unsigned long long* results = nullptr;
  cudaMalloc(&values, sizeof given);
  cudaMallocManaged(&results, 2 * kCases * kResults * sizeof(unsigned long long));
  cudaMemcpy(values, given, sizeof given, cudaMemcpyHostToDevice);
  compute<<<1, kCases>>>(values, results);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int i = 0; i < kCases * kResults; ++i) {
    if (results[2 * i] == results[2 * i + 1]) continue;
    std::printf("%g, result %d: 0x%llx instead of 0x%llx\n", given[i / kResults], i % kResults, results[2 * i],
                results[2 * i + 1]);
    return 1;
  }
  cudaFree(values);
  cudaFree(results);
  std::printf("PASSED\n");
  return 0;
}
