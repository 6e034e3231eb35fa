// c = a b for matrices of 1024 x 1024, element by element.
#include <cstdio>
#include <vector>

#include "parallel.h"

constexpr int kSize = 1024;

int main() {
  std::vector<float> a(kSize * kSize, 0.5f), b(kSize * kSize, 2.0f), c(kSize * kSize);
  parallel(kSize, [&](int from, int to) {
    for (int row = from; row < to; ++row) {
      for (int column = 0; column < kSize; ++column) {
        float sum = 0;
        for (int k = 0; k < kSize; ++k) sum += a[row * kSize + k] * b[k * kSize + column];
        c[row * kSize + column] = sum;
      }
    }
  });
  std::printf("%g\n", c[kSize * kSize - 1]);
}
