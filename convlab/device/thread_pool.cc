#include "convlab/device/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "convlab/base/error.h"

namespace convlab {
namespace {

/// CPUs' worth of time that the container grants, 0 if unlimited or not told.
double cgroup_cpus() {
  std::string quota;
  double period = 0;
  if (std::ifstream v2("/sys/fs/cgroup/cpu.max"); v2 >> quota >> period && quota != "max" && period > 0) {
    return std::atof(quota.c_str()) / period;
  }
  std::ifstream v1_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), v1_period("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  double microseconds = 0;
  if (v1_quota >> microseconds && v1_period >> period && microseconds > 0 && period > 0) return microseconds / period;
  return 0;
}

/// The pool whose loop this thread is inside of, and its number there: nested loops run inline instead of waiting for
/// themselves, and keep the number, since scratch memory goes by it.
thread_local const ThreadPool* inside = nullptr;
thread_local int inside_as = 0;

/// How long to look out for what is about to happen before sleeping: as long as sleeping and waking take, so that
/// looking out in vain costs at most as much again.
constexpr std::chrono::microseconds kLookOut{40};

/// Returns when done() is true, or after a short while.
template <class Done>
void look_out_for(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + kLookOut;
  while (!done() && std::chrono::steady_clock::now() < end) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

}  // namespace

int usable_threads() {
  cpu_set_t set;
  CPU_ZERO(&set);
  int count = static_cast<int>(std::thread::hardware_concurrency());
  if (sched_getaffinity(0, sizeof set, &set) == 0) count = CPU_COUNT(&set);
  if (const double granted = cgroup_cpus(); granted > 0) count = std::min(count, static_cast<int>(granted + 0.999));
  return std::max(count, 1);
}

struct ThreadPool::Loop {
  int64_t count, grain;
  const std::function<void(int64_t, int64_t, int)>* body;
  std::atomic<int64_t> next{0};
  std::atomic<bool> failed{false};
  std::atomic<int> active{0};  // workers inside; written with the pool's mutex held
  std::exception_ptr error;
  std::mutex error_mutex;
};

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = usable_threads();
  try {
    for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { work(thread); });
  } catch (const std::system_error& error) {
    stop();  // a std::thread must not be destroyed while it runs
    throw unavailable("{} threads cannot be started: {}; give a smaller --threads", threads, error.what());
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_pieces(Loop& loop, int thread) {
  while (!loop.failed.load(std::memory_order_relaxed)) {
    const int64_t begin = loop.next.fetch_add(loop.grain, std::memory_order_relaxed);
    if (begin >= loop.count) return;
    try {
      (*loop.body)(begin, std::min(begin + loop.grain, loop.count), thread);
    } catch (...) {
      const std::lock_guard lock(loop.error_mutex);
      if (!loop.error) loop.error = std::current_exception();
      loop.failed = true;
    }
  }
}

void ThreadPool::work(int thread) {
  inside = this;
  inside_as = thread;
  uint64_t seen = 0;
  std::unique_lock lock(mutex_, std::defer_lock);
  while (true) {
    look_out_for([&] { return stopping_ || generation_ != seen; });
    lock.lock();
    wake_.wait(lock, [&] { return stopping_ || (loop_ != nullptr && generation_ != seen); });
    if (stopping_) return;
    seen = generation_;
    Loop& loop = *loop_;
    ++loop.active;
    lock.unlock();
    take_pieces(loop, thread);
    lock.lock();
    if (--loop.active == 0) finished_.notify_one();
    lock.unlock();
  }
}

void ThreadPool::parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t, int)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  if (inside == this || workers_.empty() || count <= grain) {
    const int thread = inside == this ? inside_as : 0;
    for (int64_t begin = 0; begin < count; begin += grain) body(begin, std::min(begin + grain, count), thread);
    return;
  }
  const std::lock_guard one_loop(loops_);
  Loop loop{.count = count, .grain = grain, .body = &body};
  {
    const std::lock_guard lock(mutex_);
    loop_ = &loop;
    ++generation_;
  }
  wake_.notify_all();
  const ThreadPool* const outer = std::exchange(inside, this);
  const int outer_as = std::exchange(inside_as, 0);
  take_pieces(loop, 0);
  inside = outer;
  inside_as = outer_as;
  std::unique_lock lock(mutex_);
  loop_ = nullptr;  // late wakers find nothing to join
  lock.unlock();
  look_out_for([&] { return loop.active == 0; });
  lock.lock();
  finished_.wait(lock, [&] { return loop.active == 0; });
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace convlab
