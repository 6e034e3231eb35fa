// nvcuda::wmma of bfloat16, 8-bit integers and double, beside products of plain loops.

#include <cuda_bf16.h>
#include <mma.h>

#include <cmath>
#include <cstdio>
#include <vector>

using namespace nvcuda;

template <class T, class Sum, int M, int N, int K>
__global__ void multiply(const T* a, const T* b, const Sum* c, Sum* d) {
  wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> sum;
  wmma::load_matrix_sync(left, a, K);
  wmma::load_matrix_sync(right, b, K);
  wmma::load_matrix_sync(sum, c, N, wmma::mem_row_major);
  wmma::mma_sync(sum, left, right, sum);
  wmma::store_matrix_sync(d, sum, N, wmma::mem_row_major);
}

template <class T>
T* on_device(const std::vector<T>& values) {
  T* device = nullptr;
  cudaMalloc(&device, values.size() * sizeof(T));
  cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

// Small integers of both signs: exact in every type.
template <class T, class Sum, int M, int N, int K>
bool is_right(const char* name, int least) {
  std::vector<T> a(M * K), b(N * K);
  std::vector<Sum> c(M * N), d(M * N);
  for (int i = 0; i < M * K; ++i) a[i] = T(static_cast<float>(i % 13 + least));
  for (int i = 0; i < N * K; ++i) b[i] = T(static_cast<float>(i % 11 + least));
  for (int i = 0; i < M * N; ++i) c[i] = static_cast<Sum>(i % 7);
  T *const left = on_device(a), *const right = on_device(b);
  Sum *const before = on_device(c), *const after = on_device(d);
  multiply<T, Sum, M, N, K><<<1, 32>>>(left, right, before, after);
  cudaMemcpy(d.data(), after, d.size() * sizeof(Sum), cudaMemcpyDeviceToHost);
  for (void* each :
       {static_cast<void*>(left), static_cast<void*>(right), static_cast<void*>(before), static_cast<void*>(after)}) {
    cudaFree(each);
  }
  for (int row = 0; row < M; ++row) {
    for (int column = 0; column < N; ++column) {
      double expected = static_cast<double>(c[row * N + column]);
      for (int k = 0; k < K; ++k) {
        expected += static_cast<double>(static_cast<float>(a[row * K + k])) *
                    static_cast<double>(static_cast<float>(b[column * K + k]));
      }
      if (static_cast<double>(d[row * N + column]) != expected) {
        std::printf("%s: row %d, column %d: %g instead of %g\n", name, row, column,
                    static_cast<double>(d[row * N + column]), expected);
        return false;
      }
    }
  }
  return true;
}

// Tiles of 8-bit integers lie side by side, 16 bytes apart.
__global__ void second_tile(const signed char* a, int* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> ones;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(ones, 1);
  wmma::fill_fragment(sum, 0);
  wmma::load_matrix_sync(left, a + 16, 32);
  wmma::mma_sync(sum, left, ones, sum);
  wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}

__global__ void saturate(int* limits) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, int> sum;
  wmma::fill_fragment(left, 100);
  wmma::fill_fragment(right, 100);
  wmma::fill_fragment(sum, 2147483647 - 5);
  wmma::mma_sync(sum, left, right, sum, true);
  wmma::store_matrix_sync(limits, sum, 16, wmma::mem_row_major);
}

int main() {
  bool right = is_right<__nv_bfloat16, float, 16, 16, 16>("bfloat16", -6) &&
               is_right<__nv_bfloat16, float, 8, 32, 16>("bfloat16, 8x32", -6) &&
               is_right<signed char, int, 16, 16, 16>("signed char", -6) &&
               is_right<unsigned char, int, 32, 8, 16>("unsigned char", 200) &&
               is_right<double, double, 8, 8, 4>("double", -6);
  int* device = on_device(std::vector<int>(256));
  std::vector<int> limits(256);
  saturate<<<1, 32>>>(device);
  cudaMemcpy(limits.data(), device, 256 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (const int limit : limits) {
    if (limit != 2147483647) right = std::printf("saturated: %d\n", limit) < 0;
  }
  std::vector<signed char> tiles(16 * 32);
  for (int i = 0; i < 16 * 32; ++i) tiles[i] = static_cast<signed char>(i % 32 < 16 ? 0 : i / 32);
  signed char* const device_tiles = on_device(tiles);
  int* const sums = on_device(limits);
  second_tile<<<1, 32>>>(device_tiles, sums);
  cudaMemcpy(limits.data(), sums, 256 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device_tiles);
  cudaFree(sums);
  for (int i = 0; i < 256; ++i) {
    if (limits[i] != 16 * (i / 16)) right = std::printf("second tile: %d at %d\n", limits[i], i) < 0;
  }
  if (right) std::puts("PASSED");
  return right ? 0 : 1;
}
