#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "convlab/measure/ceilings.cc"
#include <hwy/foreach_target.h>  // includes this file once for each instruction set
#include <hwy/highway.h>

#include "convlab/measure/ceilings.h"

HWY_BEFORE_NAMESPACE();
namespace convlab {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Independent chains of multiply-adds, as many as hide the latency of two units (4 or 5 cycles each). Returns the
/// number of operations; `sink` keeps the compiler from dropping them.
double multiply_add(int64_t rounds, float* sink) {
  const hn::ScalableTag<float> d;
  // a <- a * 0.5 + 0.5 stays near 1: no infinities, no subnormals.
  const auto half = hn::Set(d, 0.5f);
  auto a0 = hn::Set(d, 1.0f), a1 = a0, a2 = a0, a3 = a0, a4 = a0, a5 = a0, a6 = a0, a7 = a0, a8 = a0, a9 = a0;
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
#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "convlab/device/thread_pool.h"

namespace convlab {
namespace {

HWY_EXPORT(multiply_add);

/// Calls work(), which returns an amount, `rounds` times; the best amount per second.
template <class Work>
double best_rate(int rounds, const Work& work) {
  double best = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const double amount = work();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, amount / seconds.count());
  }
  return best;
}

double flops_per_second(ThreadPool& threads) {
  constexpr int64_t kMultiplyAdds = 200'000;  // of each chain: about a millisecond
  constexpr int kRounds = 10;
  const auto all = static_cast<size_t>(threads.size());
  std::vector<double> amounts(all);
  std::vector<float> sinks(all);
  return best_rate(kRounds, [&] {
    threads.parallel_for(threads.size(), 1, [&](int64_t begin, int64_t, int) {
      const auto i = static_cast<size_t>(begin);
      amounts[i] = HWY_DYNAMIC_DISPATCH(multiply_add)(kMultiplyAdds, &sinks[i]);
    });
    double sum = 0;
    for (double amount : amounts) sum += amount;
    return sum;
  });
}

double bytes_per_second(ThreadPool& threads) {
  constexpr int64_t kBytes = int64_t{32} << 20, kPiece = int64_t{1} << 20;
  constexpr int kRounds = 5;  // the first one, which takes the memory, is the slowest
  std::vector<char> from(kBytes, 1), to(kBytes);
  return best_rate(kRounds, [&] {
    threads.parallel_for(kBytes / kPiece, 1, [&](int64_t begin, int64_t end, int) {
      std::memcpy(to.data() + begin * kPiece, from.data() + begin * kPiece,
                  static_cast<size_t>((end - begin) * kPiece));
    });
    return 2.0 * static_cast<double>(kBytes);
  });
}

}  // namespace

double Ceilings::bound_seconds(double flops, double bytes) const {
  return std::max(flops / flops_per_second, bytes / bytes_per_second);
}

Ceilings measure_ceilings(ThreadPool& threads) {
  return {.flops_per_second = flops_per_second(threads), .bytes_per_second = bytes_per_second(threads)};
}

}  // namespace convlab
#endif
