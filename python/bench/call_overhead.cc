// Prints the median time of a call in C++, in microseconds: call_overhead MODEL SIDE THREADS SECONDS

#include <algorithm>
#include <chrono>
#include <convlab/convlab.hpp>
#include <cstdio>
#include <cstdlib>
#include <vector>

int main(int, char** argv) {
  using Clock = std::chrono::steady_clock;
  convlab::Session session(argv[1], {.device = "cpu", .threads = std::atoi(argv[3])});
  const int64_t side = std::atoi(argv[2]);
  convlab::Tensor x = convlab::Tensor::of<float>({1, 1, side, side});
  std::ranges::fill(x.values<float>(), 0.5f);
  convlab::Tensor y = session.run(x);
  std::vector<double> samples;
  const auto end = Clock::now() + std::chrono::duration<double>(std::atof(argv[4]));
  while (Clock::now() < end) {
    const auto begin = Clock::now();
    session.run(x, y);
    samples.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
  }
  std::ranges::sort(samples);
  std::printf("%f\n", samples[samples.size() / 2]);
}
