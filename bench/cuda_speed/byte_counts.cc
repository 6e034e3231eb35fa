// Counts 128 M bytes in 256 bins, one array of bins per thread.
#include <atomic>
#include <cstdio>
#include <vector>

#include "parallel.h"

int main() {
  constexpr int n = 128 << 20;
  std::vector<unsigned char> data(n);
  for (int i = 0; i < n; ++i) data[i] = static_cast<unsigned char>(i * 2654435761u >> 24);
  std::atomic<unsigned> bins[256] = {};
  parallel(n, [&](int from, int to) {
    unsigned own[256] = {};
    for (int i = from; i < to; ++i) ++own[data[i]];
    for (int bin = 0; bin < 256; ++bin) bins[bin] += own[bin];
  });
  std::printf("%u\n", bins[17].load());
}
