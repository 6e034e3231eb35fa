// Copies structures of 16 bytes that are aligned to 8 bytes only.
#include <cstdio>

struct Pair {
  double x, y;
};
struct Item {
  double weight;
  Pair pair;
};

__global__ void copy(const Item* items, Pair* pairs) { pairs[threadIdx.x] = items[threadIdx.x].pair; }

int main() {
  constexpr int kCount = 10;
  Item host[kCount], *items;
  Pair copies[kCount], *pairs;
  for (int i = 0; i < kCount; ++i) host[i] = {0.5, {1.0 * i, 2.0 * i}};
  cudaMalloc(&items, sizeof(host));
  cudaMalloc(&pairs, sizeof(copies));
  cudaMemcpy(items, host, sizeof(host), cudaMemcpyHostToDevice);
  copy<<<1, kCount>>>(items, pairs);
  cudaMemcpy(copies, pairs, sizeof(copies), cudaMemcpyDeviceToHost);
  cudaFree(items);
  cudaFree(pairs);
  const bool right = copies[9].x == 9 && copies[9].y == 18;
  std::printf(right ? "PASSED\n" : "FAILED\n");
  return right ? 0 : 1;
}
