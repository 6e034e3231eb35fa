#pragma once

#include <cstdint>

#include "convlab/device/cuda_compat.h"
#include "convlab/device/pipeline.cuh"
#ifndef __CUDACC__
#include "convlab/simt/cuda/mma.h"
#endif

namespace convlab {
inline namespace CONVLAB_KERNEL_NAMESPACE {

// A warp's matrix multiply-add on registers, D = A * B + C with A of 16 rows, B of 8 columns and fp32 accumulation (PTX
// ISA, "Matrix multiply-accumulate operation using mma instruction"). Lane l, with g = l / 4 and t = l % 4, holds
//   of C and D: [0], [1]: row g, columns 2t, 2t+1;   [2], [3]: row g + 8, the same columns;
//   tf32, K = 8:   a = (g, t), (g+8, t), (g, t+4), (g+8, t+4);   b = (t, g), (t+4, g);
//   fp16, K = 16, two values per register, the lower k in the lower 16 bits:
//     a = (g, 2t..), (g+8, 2t..), (g, 2t+8..), (g+8, 2t+8..);   b = (2t.., g), (2t+8.., g);
//   fp16, K = 8: a = (g, 2t..), (g+8, 2t..);   b = (2t.., g).
// All 32 lanes must participate. Needs compute capability 8.0.

/// Rounds a float to TF32's 10 explicit mantissa bits, ties away from zero. Returns its bits, for mma_tf32.
inline __device__ uint32_t to_tf32(float value) {
#ifdef __CUDACC__
  uint32_t bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
#else
  return simt::to_tf32(value);
#endif
}

/// D = A * B + C.
inline __device__ void mma_tf32(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4]) {
#ifdef __CUDACC__
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  for (int i = 0; i < 4; ++i) d[i] = c[i];
  simt::mma_tf32(d, a, b);
#endif
}

inline __device__ void mma_fp16(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2], const float (&c)[4]) {
#ifdef __CUDACC__
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  for (int i = 0; i < 4; ++i) d[i] = c[i];
  simt::mma_fp16(d, a, b);
#endif
}

inline __device__ void mma_fp16(float (&d)[4], const uint32_t (&a)[2], uint32_t b, const float (&c)[4]) {
#ifdef __CUDACC__
  asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
      : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b), "f"(c[0]), "f"(c[1]), "f"(c[2]), "f"(c[3]));
#else
  const uint32_t longer_a[4] = {a[0], a[1], 0, 0}, longer_b[2] = {b, 0};
  mma_fp16(d, longer_a, longer_b, c);
#endif
}

/// Loads four 8 x 8 fp16 matrices from shared memory as a warp's fragments (ldmatrix). Lane l passes the address of row
/// l % 8 of matrix l / 8, a multiple of 16 bytes, and receives elements l % 4 * 2 and the next of row l / 4 of each
/// matrix. If the matrices are A's (rows 0..7, first 8 of K), (rows 8..15, first 8), (rows 0..7, last 8), (rows 8..15,
/// last 8), the result is `a` of mma_fp16. All 32 lanes must participate.
inline __device__ void load_matrices(uint32_t (&a)[4], SharedAddress row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
               : "r"(row));
#else
  const int lane = threadIdx.x % 32;
  for (int matrix = 0; matrix < 4; ++matrix) {
    const SharedAddress from = __shfl_sync(0xffffffffu, row, matrix * 8 + lane / 4);
    a[matrix] = *(from_shared<uint32_t>(from) + lane % 4);
  }
#endif
}

/// Stores two or four 8 x 8 fp16 matrices from a warp's fragments to shared memory (stmatrix), the inverse of
/// load_matrices(). Lane l passes the address of row l % 8 of matrix l / 8.
template <int kMatrices>
__device__ void store_matrices(SharedAddress row, const uint32_t (&a)[kMatrices]) {
  static_assert(kMatrices == 2 || kMatrices == 4);
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
  if constexpr (kMatrices == 4) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1,%2,%3,%4};" ::"r"(row), "r"(a[0]), "r"(a[1]),
                 "r"(a[2]), "r"(a[3])
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1,%2};" ::"r"(row), "r"(a[0]), "r"(a[1]) : "memory");
  }
#else
  const int lane = threadIdx.x % 32;
  for (int matrix = 0; matrix < kMatrices; ++matrix) {
    const SharedAddress to = __shfl_sync(0xffffffffu, row, matrix * 8 + lane / 4);
    *(from_shared<uint32_t>(to) + lane % 4) = a[matrix];
  }
#endif
}

}  // namespace CONVLAB_KERNEL_NAMESPACE
}  // namespace convlab
