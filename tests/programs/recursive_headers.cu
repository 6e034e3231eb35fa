// Headers that include each other, and a source that begins with a byte order mark.
#include "headers/recursive_list.h"

#include <cstdio>

int main() {
  int *sum, host = 0;
  cudaMalloc(&sum, sizeof(int));
  sum_list<<<1, 1>>>(List{40, 2}, sum);
  cudaMemcpy(&host, sum, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(sum);
  if (host != 42) return std::printf("%d instead of 42\n", host), 1;
  std::printf("PASSED\n");
  return 0;
}
