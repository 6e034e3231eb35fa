#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace convlab::app {

/// A FIFO queue between two threads.
template <class T>
class HandOver {
 public:
  void give(T value) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(value));
    }
    changed_.notify_one();
  }

  /// Waits for the next value and returns it; nullopt once the queue is empty and closed.
  std::optional<T> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return std::nullopt;
    T value = std::move(waiting_.front());
    waiting_.pop_front();
    return value;
  }

  /// No more values will be added.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> waiting_;
  bool closed_ = false;
};

}  // namespace convlab::app
