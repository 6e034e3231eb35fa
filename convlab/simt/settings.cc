// Keeps the settings of the process for all launches.

#include "convlab/simt/settings.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace convlab::simt {
namespace {

std::atomic<int> worker_count{0};
std::atomic<Strictness> strictness_now{Strictness::strict};
std::atomic<Schedule::Order> order_now{Schedule::Order::in_order};
std::atomic<uint64_t> seed_now{0};

int usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace

void set_workers(int count) { worker_count = std::max(0, count); }

int workers() {
  const int count = worker_count;
  return count > 0 ? count : usable_cpus();
}

void set_strictness(Strictness strictness) { strictness_now = strictness; }

void set_schedule(Schedule schedule) {
  order_now = schedule.order;
  seed_now = schedule.seed;
}
Schedule schedule() { return {order_now, seed_now}; }

bool internal::is_lenient() { return strictness_now == Strictness::lenient; }
bool internal::is_strict() { return strictness_now == Strictness::strict; }

}  // namespace convlab::simt
