// fp8: all 256 numbers of both formats, and conversions to the nearest one of them.
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>

double value_of(unsigned bits, bool is_e4m3) {
  const int mantissa_bits = is_e4m3 ? 3 : 2, bias = is_e4m3 ? 7 : 15;
  const int exponent = (bits & 0x7f) >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
  if (is_e4m3 ? (bits & 0x7f) == 0x7f : (bits & 0x7f) > 0x7c) return NAN;
  if (!is_e4m3 && (bits & 0x7f) == 0x7c) return bits & 0x80 ? -INFINITY : INFINITY;
  const double size =
      std::ldexp(mantissa + (exponent ? 1 << mantissa_bits : 0), (exponent ? exponent : 1) - bias - mantissa_bits);
  return bits & 0x80 ? -size : size;
}

// The nearest number by trying all; of two, the one whose bits end in 0. Saturates.
unsigned nearest(double x, bool is_e4m3) {
  if (x != x) return is_e4m3 ? 0x7f : 0x7e;
  const unsigned most = is_e4m3 ? 0x7e : 0x7b;
  unsigned best = 0;
  for (unsigned bits = 0; bits <= most; ++bits) {
    const double off = std::fabs(value_of(bits, is_e4m3) - std::fabs(x)),
                 least = std::fabs(value_of(best, is_e4m3) - std::fabs(x));
    if (off < least || (off == least && bits % 2 == 0)) best = bits;
  }
  if (std::fabs(x) > value_of(most, is_e4m3)) best = most;
  return best | (std::signbit(x) ? 0x80 : 0);
}

constexpr int kValues = 1024;

__global__ void convert(const float* values, unsigned char* e4m3, unsigned char* e5m2, float* decoded) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  e4m3[i] = __nv_fp8_e4m3(values[i]).__x;
  e5m2[i] = __nv_fp8_e5m2(values[i]).__x;
  if (i < 256) {
    __nv_fp8_e4m3 x;
    x.__x = static_cast<unsigned char>(i);
    decoded[i] = static_cast<float>(x);
    decoded[256 + i] = __half2float(__nv_cvt_fp8_to_halfraw(static_cast<unsigned char>(i), __NV_E5M2));
  }
}

int main() {
  float values[kValues], *device_values, *decoded, found[512];
  unsigned char *e4m3, *e5m2, found4[kValues], found5[kValues];
  unsigned state = 5;
  for (float& x : values) {
    state = state * 1664525 + 1013904223;
    x = std::ldexp(static_cast<float>(static_cast<int>(state)), static_cast<int>(state >> 9 & 31) - 46);
  }
  const float edges[] = {0.0f,  -0.0f, INFINITY, -INFINITY,     NAN,         448, 464, 464.1f,
                         57344, 61440, 1e30f,    0.0009765625f, 0.00097656f, 17,  19,  -21};
  for (int i = 0; i < 16; ++i) values[i] = edges[i];
  cudaMalloc(&device_values, sizeof(values));
  cudaMalloc(&e4m3, kValues);
  cudaMalloc(&e5m2, kValues);
  cudaMalloc(&decoded, sizeof(found));
  cudaMemcpy(device_values, values, sizeof(values), cudaMemcpyHostToDevice);
  convert<<<kValues / 256, 256>>>(device_values, e4m3, e5m2, decoded);
  cudaMemcpy(found4, e4m3, kValues, cudaMemcpyDeviceToHost);
  cudaMemcpy(found5, e5m2, kValues, cudaMemcpyDeviceToHost);
  cudaMemcpy(found, decoded, sizeof(found), cudaMemcpyDeviceToHost);
  cudaFree(device_values);
  cudaFree(e4m3);
  cudaFree(e5m2);
  cudaFree(decoded);
  for (int i = 0; i < 512; ++i) {
    const double expected = value_of(i % 256, i < 256);
    if (found[i] == expected || (expected != expected && found[i] != found[i])) continue;
    std::printf("%s %02x is %g instead of %g\n", i < 256 ? "e4m3" : "e5m2", i % 256, found[i], expected);
    return 1;
  }
  for (int i = 0; i < kValues; ++i) {
    const float x = values[i];
    const bool nan5 = x != x && (found5[i] & 0x7f) > 0x7c;  // any NaN of e5m2
    if (found4[i] == nearest(x, true) && (nan5 || found5[i] == nearest(x, false))) continue;
    std::printf("%.9g: e4m3 %02x instead of %02x, e5m2 %02x instead of %02x\n", x, found4[i], nearest(x, true),
                found5[i], nearest(x, false));
    return 1;
  }
  // On the host, and without saturation.
  const float2 back = static_cast<float2>(__nv_fp8x2_e4m3(float2{1.5f, -2.0f}));
  const float4 four = static_cast<float4>(__nv_fp8x4_e5m2(float4{1, 2, 3, -4}));
  const bool vectors = back.x == 1.5f && back.y == -2.0f && four.x == 1 && four.y == 2 && four.z == 3 && four.w == -4;
  const bool unsaturated = __nv_cvt_float_to_fp8(1e9f, __NV_NOSAT, __NV_E4M3) == 0x7f &&
                           __nv_cvt_float_to_fp8(-1e9f, __NV_NOSAT, __NV_E5M2) == 0xfc;
  const bool integers =
      static_cast<int>(__nv_fp8_e4m3(-13.0f)) == -13 && static_cast<unsigned char>(__nv_fp8_e5m2(1024.0)) == 255;
  if (!vectors || !unsaturated || !integers) {
    std::printf("on the host: vectors %d, unsaturated %d, integers %d\n", vectors, unsaturated, integers);
    return 1;
  }
  std::puts("PASSED");
}
