#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace convlab {

/// A fixed set of threads for data-parallel loops. The caller's thread is one of them; one loop runs at a time, and a
/// loop that another thread starts meanwhile waits for it. After a loop, threads look out for the next one for some
/// microseconds before they sleep: waking them takes longer than a layer of one image.
class ThreadPool {
 public:
  /// So many threads in all, 1 or more; 0 means usable_threads(). Error(unavailable) where they cannot be started.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(begin, end, thread) for pieces that cover [0, count) once, each at most `grain` long; thread is in [0,
  /// size()). Each thread first takes a part of the pieces that lie together, in order, and then what others have left;
  /// so what it wrote in a loop is likely in its cache when a loop like it reads that. Returns when all are done, then
  /// rethrows the first exception. A loop started from inside a body runs on the calling thread alone, under its
  /// number.
  void parallel_for(int64_t count, int64_t grain, const std::function<void(int64_t, int64_t, int)>& body);

  /// Calls body(i) on thread i for each i in [0, count), all at once, so that each may wait for the others; count is at
  /// most size(). Returns when all are done, then rethrows the first exception. Not for use from inside a body.
  void on_each_thread(int count, const std::function<void(int)>& body);

 private:
  struct Share;
  struct Loop;
  void run(Loop& loop);
  void work(int thread);
  void stop();

  std::vector<Share> shares_;  ///< of the loop that runs, by thread
  std::vector<std::thread> workers_;
  std::mutex loops_;  ///< held while a loop runs
  std::mutex mutex_;  ///< guards what follows
  std::condition_variable wake_, finished_;
  Loop* loop_ = nullptr;
  std::atomic<uint64_t> generation_ = 0;  ///< written with the mutex held, as is the next; read without to look out
  std::atomic<bool> stopping_ = false;
};

}  // namespace convlab
