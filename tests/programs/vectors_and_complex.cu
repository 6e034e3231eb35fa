// Vector types with CUDA's sizes and alignments, casts between numbers and bits, constants, and cuComplex.h.
#include <cuComplex.h>
#include <math_constants.h>
#include <vector_functions.h>

#include <cmath>
#include <cstdio>
#include <cstring>

#define CHECK_VECTOR(T, size1, align2, align4)                                                                      \
  static_assert(                                                                                                    \
      sizeof(T##1) == size1 && sizeof(T##2) == 2 * size1 && sizeof(T##3) == 3 * size1 && sizeof(T##4) == 4 * size1, \
      #T);                                                                                                          \
  static_assert(                                                                                                    \
      alignof(T##1) == size1 && alignof(T##2) == align2 && alignof(T##3) == size1 && alignof(T##4) == align4, #T)
CHECK_VECTOR(char, 1, 2, 4);
CHECK_VECTOR(uchar, 1, 2, 4);
CHECK_VECTOR(short, 2, 4, 8);
CHECK_VECTOR(ushort, 2, 4, 8);
CHECK_VECTOR(int, 4, 8, 16);
CHECK_VECTOR(uint, 4, 8, 16);
CHECK_VECTOR(long, 8, 16, 16);
CHECK_VECTOR(ulong, 8, 16, 16);
CHECK_VECTOR(longlong, 8, 16, 16);
CHECK_VECTOR(ulonglong, 8, 16, 16);
CHECK_VECTOR(float, 4, 8, 16);
CHECK_VECTOR(double, 8, 16, 16);

__global__ void compute(const double2* z, double2* results, ulonglong4* words) {
  const cuDoubleComplex a = z[0], b = z[1];
  results[0] = cuCmul(a, b);
  results[1] = cuCdiv(a, b);
  results[2] = make_cuDoubleComplex(cuCabs(a), cuCreal(cuConj(b)) + cuCimag(cuConj(b)));
  results[3] = cuCfma(a, b, cuCadd(a, cuCsub(b, a)));
  const cuFloatComplex narrow = cuCmulf(cuComplexDoubleToFloat(a), make_cuComplex(2, -1));
  results[4] = cuComplexFloatToDouble(narrow);
  words[0] = make_ulonglong4(__double_as_longlong(a.x), __float_as_uint(1.5f), __double2hiint(a.y),
                             static_cast<unsigned>(__double2loint(a.y)));
  const bool casts = __longlong_as_double(__double_as_longlong(-0.1)) == -0.1 &&
                     __int_as_float(__float_as_int(2.5f)) == 2.5f &&
                     __hiloint2double(__double2hiint(CUDART_PI), __double2loint(CUDART_PI)) == CUDART_PI &&
                     isinf(CUDART_INF_F) && isnan(CUDART_NAN);
  const long4 more = make_long4(1, 2, 3, 4);
  words[1] = make_ulonglong4(casts, more.x + more.y, more.z + more.w, fabsf(CUDART_PI_F - 3.14159274f) < 1e-7f);
}

int main() {
  const double2 host[2] = {{1.5, -2.25}, {-0.75, 3.5}};
  double2 *z, *results, r[5];
  ulonglong4 *words, w[2];
  cudaMalloc(&z, sizeof(host));
  cudaMalloc(&results, sizeof(r));
  cudaMalloc(&words, sizeof(w));
  cudaMemcpy(z, host, sizeof(host), cudaMemcpyHostToDevice);
  compute<<<1, 1>>>(z, results, words);
  cudaMemcpy(r, results, sizeof(r), cudaMemcpyDeviceToHost);
  cudaMemcpy(w, words, sizeof(w), cudaMemcpyDeviceToHost);
  cudaFree(z);
  cudaFree(results);
  cudaFree(words);
  const double a = 1.5, b = -2.25, c = -0.75, d = 3.5, size = c * c + d * d;
  const double expected[5][2] = {{a * c - b * d, a * d + b * c},
                                 {(a * c + b * d) / size, (b * c - a * d) / size},
                                 {std::sqrt(a * a + b * b), c - d},
                                 {a * c - b * d + c, a * d + b * c + d},
                                 {2 * a + b, 2 * b - a}};
  for (int i = 0; i < 5; ++i) {
    if (std::fabs(r[i].x - expected[i][0]) < 1e-12 && std::fabs(r[i].y - expected[i][1]) < 1e-12) continue;
    std::printf("result %d: %g, %g\n", i, r[i].x, r[i].y);
    return 1;
  }
  unsigned long long x, y;
  std::memcpy(&x, &host[0].x, 8);
  std::memcpy(&y, &host[0].y, 8);
  const bool bits =
      w[0].x == x && w[0].y == 0x3fc00000 && static_cast<unsigned>(w[0].z) == y >> 32 && w[0].w == (y & 0xffffffff);
  if (!bits || w[1].x != 1 || w[1].y != 3 || w[1].z != 7 || w[1].w != 1)
    return std::printf("casts %d %d\n", bits, int(w[1].x)), 1;
  std::puts("PASSED");
}
