// y = a x + y, 32 times over 8 M elements.
#include <cstdio>
#include <vector>

#include "parallel.h"

int main() {
  constexpr int n = 8 << 20;
  std::vector<float> x(n, 2.0f), y(n, 1.0f);
  for (int repeat = 0; repeat < 32; ++repeat) {
    parallel(n, [&](int from, int to) {
      for (int i = from; i < to; ++i) y[i] += 0.5f * x[i];
    });
  }
  std::printf("%g\n", y[n - 1]);
}
