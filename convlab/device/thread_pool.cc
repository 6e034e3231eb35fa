// Implements a thread pool for data-parallel loops.

#include "convlab/device/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <span>
#include <system_error>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/limits.h"

namespace convlab {
namespace {

/// The pool whose loop this thread is running, and the thread's index there. Nested loops run inline, to avoid waiting
/// for themselves, and keep the index, which selects scratch memory.
thread_local const ThreadPool* inside = nullptr;
thread_local int inside_as = 0;

/// Makes the calling thread thread 0 of a pool's loop until the end of the scope.
class Inside {
 public:
  explicit Inside(const ThreadPool& pool)
      : outer_(std::exchange(inside, &pool)), outer_as_(std::exchange(inside_as, 0)) {}
  ~Inside() {
    inside = outer_;
    inside_as = outer_as_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const ThreadPool* outer_;
  int outer_as_;
};

/// How long to spin before sleeping: as long as sleeping and waking take, so that spinning in vain at most doubles the
/// cost.
constexpr std::chrono::microseconds kSpinTime{40};

/// Spins until done() is true, at most kSpinTime.
template <class Done>
void spin_until(const Done& done) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  while (!done() && std::chrono::steady_clock::now() < end) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
}

}  // namespace

/// The chunks that a thread processes first. Chunks before `next` have been taken.
struct alignas(64) ThreadPool::Share {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

struct ThreadPool::Loop {
  int64_t count, grain;
  const std::function<void(int64_t, int64_t, int)>* body;
  std::span<Share> shares = {};  ///< by thread
  int own_chunks = 0;            ///< if above 0, the number of chunks; thread i must process chunk i
  std::atomic<int> expected{0};  ///< workers that have not yet started on their own chunk
  std::atomic<int> active{0};    ///< workers in the loop; like `expected`, written with the pool's mutex held
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex error_mutex;

  bool done() const { return expected == 0 && active == 0; }

  void do_chunk(int64_t chunk, int thread) {
    try {
      (*body)(chunk * grain, std::min((chunk + 1) * grain, count), thread);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
      failed = true;
    }
  }

  /// Processes the chunks of thread `thread`.
  void do_chunks(int thread) {
    if (own_chunks > 0) {
      if (thread < own_chunks) do_chunk(thread, thread);
      return;
    }
    for (size_t i = 0; i < shares.size(); ++i) {
      Share& share = shares[(static_cast<size_t>(thread) + i) % shares.size()];
      while (!failed.load(std::memory_order_relaxed)) {
        const int64_t chunk = share.next.fetch_add(1, std::memory_order_relaxed);
        if (chunk >= share.end) break;
        do_chunk(chunk, thread);
      }
    }
  }
};

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = usable_threads();
  shares_ = std::vector<Share>(static_cast<size_t>(threads));
  try {
    for (int thread = 1; thread < threads; ++thread) workers_.emplace_back([this, thread] { work(thread); });
  } catch (const std::system_error& error) {
    stop();  // a std::thread must be joined before it is destroyed
    throw unavailable("cannot start {} threads: {}; use fewer threads", threads, error.what());
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

void ThreadPool::work(int thread) {
  inside = this;
  inside_as = thread;
  uint64_t seen = 0;
  std::unique_lock lock(mutex_, std::defer_lock);
  while (true) {
    spin_until([&] { return stopping_ || generation_ != seen; });
    lock.lock();
    wake_.wait(lock, [&] { return stopping_ || (loop_ != nullptr && generation_ != seen); });
    if (stopping_) return;
    seen = generation_;
    Loop& loop = *loop_;
    ++loop.active;
    if (thread < loop.own_chunks) --loop.expected;
    lock.unlock();
    loop.do_chunks(thread);
    lock.lock();
    if (--loop.active == 0) finished_.notify_one();
    lock.unlock();
  }
}

void ThreadPool::parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t, int)>& body) {
  if (count <= 0) return;
  grain = std::max<int64_t>(grain, 1);
  const auto alone = [&](int thread) {
    for (int64_t begin = 0; begin < count; begin += grain) body(begin, std::min(begin + grain, count), thread);
  };
  if (inside == this) return alone(inside_as);
  const std::lock_guard one_loop(loops_);
  const Inside here(*this);
  if (workers_.empty() || count <= grain) return alone(0);
  const int64_t chunks = ceil_div(count, grain), threads = size();
  int64_t first = 0;
  for (int64_t thread = 0; thread < threads; ++thread) {
    Share& share = shares_[static_cast<size_t>(thread)];
    share.next = first;
    share.end = first += chunks / threads + (thread < chunks % threads ? 1 : 0);
  }
  Loop loop{.count = count, .grain = grain, .body = &body, .shares = shares_};
  run(loop);
}

void ThreadPool::on_each_thread(int count, const std::function<void(int)>& body) {
  const std::lock_guard one_loop(loops_);
  const Inside here(*this);
  const std::function<void(int64_t, int64_t, int)> chunk = [&body](int64_t, int64_t, int thread) { body(thread); };
  Loop loop{.count = count, .grain = 1, .body = &chunk, .own_chunks = count, .expected = count - 1};
  run(loop);
}

/// Runs a loop on all workers; the calling thread is thread 0.
void ThreadPool::run(Loop& loop) {
  {
    const std::lock_guard lock(mutex_);
    loop_ = &loop;
    ++generation_;
  }
  wake_.notify_all();
  loop.do_chunks(0);
  std::unique_lock lock(mutex_);
  if (loop.expected == 0) loop_ = nullptr;  // workers that wake up late must not join
  lock.unlock();
  spin_until([&] { return loop.done(); });
  lock.lock();
  finished_.wait(lock, [&] { return loop.done(); });
  loop_ = nullptr;
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace convlab
