// Measures a host's ceilings: fp32 and bf16 arithmetic, and copying through memory and L2.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convlab/measure/ceilings_host.cc"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

#include "convlab/measure/ceilings_of_device.h"

HWY_BEFORE_NAMESPACE();
namespace convlab {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Runs independent chains of multiply-adds, enough to hide the latency of two units (4 or 5 cycles each). Returns the
/// number of operations; `sink` keeps the compiler from dropping them.
double multiply_add(int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  // a <- a * 0.5 + 0.5 stays near 1: no infinities, no subnormals. Each chain starts at a different value, or the
  // compiler would compute one for all.
  const auto half = hn::Set(d, 0.5f);
  const auto from = [&](float value) HWY_ATTR { return hn::Set(d, value); };
  auto a0 = from(1.0f), a1 = from(1.1f), a2 = from(1.2f), a3 = from(1.3f), a4 = from(1.4f), a5 = from(1.5f),
       a6 = from(1.6f), a7 = from(1.7f), a8 = from(1.8f), a9 = from(1.9f);
  for (int64_t i = 0; i < rounds; ++i) {
    a0 = hn::MulAdd(a0, half, half);
    a1 = hn::MulAdd(a1, half, half);
    a2 = hn::MulAdd(a2, half, half);
    a3 = hn::MulAdd(a3, half, half);
    a4 = hn::MulAdd(a4, half, half);
    a5 = hn::MulAdd(a5, half, half);
    a6 = hn::MulAdd(a6, half, half);
    a7 = hn::MulAdd(a7, half, half);
    a8 = hn::MulAdd(a8, half, half);
    a9 = hn::MulAdd(a9, half, half);
  }
  constexpr int kChains = 10;
  const auto sum = ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7)) + (a8 + a9);
  *sink = hn::GetLane(sum);
  return 2.0 * kChains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace HWY_NAMESPACE
}  // namespace convlab
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "convlab/base/checked.h"
#include "convlab/base/clock.h"
#include "convlab/device/thread_pool.h"

namespace convlab {
namespace {

HWY_EXPORT(multiply_add);

/// Calls work(thread) on all threads at once, `rounds` times; it returns an amount. Returns the best sum of their
/// amounts per second. The time in which other processes have a thread's processor does not count: ceilings are those
/// of the machine, and should not depend on its load.
template <class Work>
double best_rate(ThreadPool& threads, int rounds, const Work& work) {
  std::vector<double> rates(static_cast<size_t>(threads.size()));
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    threads.on_each_thread(threads.size(), [&](int thread) {
      const double begin = processor_seconds(CLOCK_THREAD_CPUTIME_ID);
      const double amount = work(thread);
      rates[static_cast<size_t>(thread)] = amount / (processor_seconds(CLOCK_THREAD_CPUTIME_ID) - begin);
    });
    best = std::max(best, std::accumulate(rates.begin(), rates.end(), 0.0));
  }
  return best;
}

/// Returns the operations per second of all threads together. Each calls compute(), which returns its number of
/// operations.
template <class Compute>
double flops_per_second(ThreadPool& threads, const Compute& compute) {
  constexpr int kRounds = 10;
  return best_rate(threads, kRounds, [&](int) { return compute(); });
}

double fp32_flops() {
  constexpr int64_t kMultiplyAdds = 200'000;  // per chain: about a millisecond
  float sink = 0;
  return HWY_DYNAMIC_DISPATCH(multiply_add)(kMultiplyAdds, &sink);
}

double bf16_flops() { return multiply_bf16(20'000); }  // at most a millisecond

/// Returns the bytes per second that all threads copy together. Each copies its own share of an array of `bytes`
/// `repeats` times.
double copy_rate(ThreadPool& threads, int64_t bytes, int repeats) {
  const int64_t share = bytes / threads.size();
  // memcpy is many times slower on some processors if the offsets of source and destination in their pages are close.
  constexpr int64_t kPage = 4096;
  const int64_t distance = round_up(bytes, kPage) + kPage / 2;
  std::vector<char> arrays(static_cast<size_t>(distance + bytes), 1);
  char* const from = arrays.data();
  char* const to = from + distance;
  constexpr int kRounds = 5;  // the first one faults in the pages and is the slowest
  return best_rate(threads, kRounds, [&](int thread) {
    for (int i = 0; i < repeats; ++i) {
      std::memcpy(to + thread * share, from + thread * share, static_cast<size_t>(share));
    }
    return 2.0 * static_cast<double>(share) * repeats;
  });
}

}  // namespace

Ceilings host_ceilings(ThreadPool& threads) {
  // If the machine does not report the size of a core's L2, assume 256 KiB, the minimum of the last ten years.
  const int64_t reported = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const int64_t cache = reported > 0 ? reported : int64_t{256} << 10;
  const int64_t cached = cache / 4 * threads.size();  // two arrays, and room for other data of the core
  constexpr int64_t kMemory = int64_t{80} << 20;      // per array: larger than a core's part of any last-level cache
  return {.fp32_flops = flops_per_second(threads, fp32_flops),
          .bf16_flops = flops_per_second(threads, bf16_flops),
          .memory_bytes = copy_rate(threads, kMemory, 1),
          .cache_bytes = copy_rate(threads, cached, 100),
          .cache_size = cache * threads.size()};
}

}  // namespace convlab
#endif
