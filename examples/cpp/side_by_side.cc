// Runs one single-threaded session per thread: sessions share the model's weights and do not wait for each other. Each
// reads and writes the program's own arrays directly: side_by_side [MODEL [THREADS]]

#include <algorithm>
#include <atomic>
#include <chrono>
#include <convlab/convlab.hpp>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

constexpr int64_t kImages = 10;  // per call
constexpr int kCalls = 100;      // per thread

int main(int argc, char** argv) try {
  const convlab::Options options{.device = "cpu", .threads = 1};
  const int count = argc > 2 ? std::atoi(argv[2]) : 2;
  std::vector<convlab::Session> sessions;
  sessions.emplace_back(argc > 1 ? argv[1] : "sp25", options);
  while (static_cast<int>(sessions.size()) < count) sessions.push_back(sessions.front().clone(options));

  convlab::Shape shape = sessions.front().inputs().front().shape;
  shape.front() = kImages;
  const std::vector<float> x(convlab::Tensor::of<float>(shape).count(), 0.5f);
  const convlab::Tensor wanted = sessions.front().run(convlab::View(std::span(x), shape));

  std::atomic<int> wrong = 0;
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::jthread> threads;
  for (convlab::Session& session : sessions) {
    threads.emplace_back([&] {
      try {
        std::vector<float> y(wanted.count());
        for (int call = 0; call < kCalls; ++call) {
          session.run(convlab::View(std::span(x), shape), convlab::MutableView(std::span(y), wanted.shape()));
          if (!std::ranges::equal(y, wanted.values<float>())) ++wrong;
        }
      } catch (const convlab::Error& error) {
        std::fprintf(stderr, "side_by_side: %s\n", error.what());
        ++wrong;
      }
    });
  }
  threads.clear();  // joins them
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("%zu threads: %.0f images/s\n", sessions.size(),
              static_cast<double>(sessions.size()) * kCalls * kImages / seconds.count());
  return wrong == 0 ? 0 : 1;
} catch (const convlab::Error& error) {
  std::fprintf(stderr, "side_by_side: %s\n", error.what());
  return error.status();
}
