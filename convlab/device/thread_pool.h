#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace convlab {

/// A fixed set of threads for data-parallel loops. The caller's thread is one of them. One loop runs at a time; a loop
/// started by another thread waits. After a loop, threads spin for some microseconds before they sleep, because waking
/// them takes longer than a layer of one image.
class ThreadPool {
 public:
  /// `threads`: the total number, including the caller; 0 means usable_threads(). Throws Error(unavailable) if they
  /// cannot be started.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(begin, end, thread) for chunks that cover [0, count) once, each at most `grain` long; thread is in [0,
  /// size()). Each thread first processes its own contiguous share of the chunks, in order, and then steals from other
  /// threads. So data that a thread wrote in one loop is probably in its cache in the next similar loop. Returns when
  /// all chunks are done, then rethrows the first exception. A loop started inside a body runs serially on the calling
  /// thread, with that thread's index.
  void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t, int)>& body);

  /// Calls body(i) on thread i for each i in [0, count), all concurrently, so that they may wait for each other; count
  /// is at most size(). Returns when all are done, then rethrows the first exception. Must not be called inside a body.
  void on_each_thread(int count, const std::function<void(int)>& body);

 private:
  struct Share;
  struct Loop;
  void run(Loop& loop);
  void work(int thread);
  void stop();

  std::vector<Share> shares_;  ///< of the current loop, by thread
  std::vector<std::thread> workers_;
  std::mutex loops_;  ///< held while a loop runs
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable wake_, finished_;
  Loop* loop_ = nullptr;
  std::atomic<uint64_t> generation_ = 0;  ///< like stopping_, written with the mutex held; read without it to spin
  std::atomic<bool> stopping_ = false;
};

}  // namespace convlab
