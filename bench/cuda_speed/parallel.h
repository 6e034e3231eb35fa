#pragma once

#include <thread>
#include <vector>

/// Calls work(from, to) for parts of [0, count), each on a thread of its own, one per core.
template <class Work>
void parallel(int count, const Work& work) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (int core = 0; core < cores; ++core) {
    const auto at = [&](int part) { return static_cast<int>(static_cast<long long>(count) * part / cores); };
    threads.emplace_back(work, at(core), at(core + 1));
  }
  for (std::thread& thread : threads) thread.join();
}
