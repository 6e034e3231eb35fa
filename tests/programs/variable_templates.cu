// Device variables that are templates, each with a copy for every type.
#include <cstdio>
template <class T>
__constant__ T mask[4];
template <class T>
__device__ T total;
template <class T>
__global__ void sum(T* out) {
  T s = 0;
  for (int i = 0; i < 4; ++i) s += mask<T>[i];
  *out = s;
  total<T> = s;
}
template <class T>
int check() {
  T host[4] = {1, 2, 3, 4}, *out, result, again;
  if (cudaMemcpyToSymbol(mask<T>, host, sizeof(host)) != cudaSuccess) return 1;
  cudaMalloc(&out, sizeof(T));
  sum<<<1, 1>>>(out);
  cudaMemcpy(&result, out, sizeof(T), cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&again, total<T>, sizeof(T));
  cudaFree(out);
  return result != 10 || again != 10;
}
int main() {
  const bool wrong = check<float>() || check<double>() || check<int>();
  printf(wrong ? "FAILED\n" : "PASSED\n");
  return wrong;
}
