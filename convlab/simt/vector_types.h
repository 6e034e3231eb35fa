#pragma once

#include <cstdint>

/// CUDA's vector types and dim3, with CUDA's sizes and alignments. cuda_on_host.h makes them global.
namespace convlab::simt::cuda {

#define CONVLAB_SIMT_VECTORS(T, name, align2, align4)                   \
  struct name##1 {                                                      \
    T x;                                                                \
  };                                                                    \
  struct alignas(align2) name##2 {                                      \
    T x, y;                                                             \
  };                                                                    \
  struct name##3 {                                                      \
    T x, y, z;                                                          \
  };                                                                    \
  struct alignas(align4) name##4 {                                      \
    T x, y, z, w;                                                       \
  };                                                                    \
  constexpr name##1 make_##name##1(T x) { return {x}; }                 \
  constexpr name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  constexpr name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  constexpr name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

CONVLAB_SIMT_VECTORS(signed char, char, 2, 4)
CONVLAB_SIMT_VECTORS(unsigned char, uchar, 2, 4)
CONVLAB_SIMT_VECTORS(short, short, 4, 8)
CONVLAB_SIMT_VECTORS(unsigned short, ushort, 4, 8)
CONVLAB_SIMT_VECTORS(int, int, 8, 16)
CONVLAB_SIMT_VECTORS(unsigned int, uint, 8, 16)
CONVLAB_SIMT_VECTORS(float, float, 8, 16)
CONVLAB_SIMT_VECTORS(long, long, 16, 16)
CONVLAB_SIMT_VECTORS(unsigned long, ulong, 16, 16)
CONVLAB_SIMT_VECTORS(long long, longlong, 16, 16)
CONVLAB_SIMT_VECTORS(unsigned long long, ulonglong, 16, 16)
CONVLAB_SIMT_VECTORS(double, double, 16, 16)

#undef CONVLAB_SIMT_VECTORS

// CUDA 13 has vectors of 32 bytes with either alignment.
#define CONVLAB_SIMT_LONG_VECTORS(T, name)                                              \
  struct alignas(16) name##4_16a {                                                      \
    T x, y, z, w;                                                                       \
  };                                                                                    \
  struct alignas(32) name##4_32a {                                                      \
    T x, y, z, w;                                                                       \
  };                                                                                    \
  constexpr name##4_16a make_##name##4_16a(T x, T y, T z, T w) { return {x, y, z, w}; } \
  constexpr name##4_32a make_##name##4_32a(T x, T y, T z, T w) { return {x, y, z, w}; }

CONVLAB_SIMT_LONG_VECTORS(long, long)
CONVLAB_SIMT_LONG_VECTORS(unsigned long, ulong)
CONVLAB_SIMT_LONG_VECTORS(long long, longlong)
CONVLAB_SIMT_LONG_VECTORS(unsigned long long, ulonglong)
CONVLAB_SIMT_LONG_VECTORS(double, double)

#undef CONVLAB_SIMT_LONG_VECTORS

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x_ = 1, unsigned int y_ = 1, unsigned int z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};

}  // namespace convlab::simt::cuda
