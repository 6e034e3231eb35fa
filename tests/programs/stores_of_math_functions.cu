// modf(), frexp(), remquo() and sincos() store a second result through a pointer, here to global and shared memory.
#include <cmath>
#include <cstdio>

__global__ void split(float* out, int* whole, float x) {
  __shared__ float both[2];
  sincosf(x, &both[0], &both[1]);
  const float fraction = modff(x, &out[0]), mantissa = frexpf(x, &whole[0]), rest = remquof(x, 0.5f, &whole[1]);
  double integer;
  const double small = modf(static_cast<double>(x), &integer);
  out[1] = out[0] + fraction;
  out[2] = ldexpf(mantissa, whole[0]);
  out[3] = rest + 0.5f * static_cast<float>(whole[1] & 7);
  out[4] = static_cast<float>(integer + small);
  out[5] = both[0] * both[0] + both[1] * both[1];
}

int main() {
  float *out, found[6];
  int* whole;
  const float x = 2.875f;
  cudaMalloc(&out, sizeof(found));
  cudaMalloc(&whole, 2 * sizeof(int));
  split<<<1, 1>>>(out, whole, x);
  cudaMemcpy(found, out, sizeof(found), cudaMemcpyDeviceToHost);
  cudaFree(out);
  cudaFree(whole);
  bool right = found[0] == 2 && std::fabs(found[5] - 1) < 1e-6f;
  for (int i = 1; i < 5; ++i) right = right && found[i] == x;
  for (float each : found) {
    if (!right) std::printf("%g\n", each);
  }
  if (right) std::puts("PASSED");
  return right ? 0 : 1;
}
