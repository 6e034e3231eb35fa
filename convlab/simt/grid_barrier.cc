// Lets the blocks of a cooperative launch wait for each other.

#include "convlab/simt/grid_barrier.h"

#include <algorithm>

namespace convlab::simt::internal {

GridBarrier::Outcome GridBarrier::wait(const std::function<void()>& complete) {
  std::unique_lock lock(mutex_);
  ++waiting_;
  if (waiting_ == blocks_) {
    complete();
    waiting_ = 0;
    ++passes_;
    changed_.notify_all();
    return end_;
  }
  settle();
  const uint64_t before = passes_;
  changed_.wait(lock, [&] { return passes_ != before || end_ != Outcome::passed; });
  return passes_ != before ? Outcome::passed : end_;
}

void GridBarrier::leave(int64_t block, bool is_faulty) {
  std::lock_guard lock(mutex_);
  if (end_ != Outcome::passed) return;  // a consequence
  ++left_;
  first_left_ = std::min(first_left_, block);
  if (is_faulty) {
    end_ = Outcome::abandoned;
    changed_.notify_all();
  }
  settle();
}

void GridBarrier::abandon() {
  std::lock_guard lock(mutex_);
  end_ = Outcome::abandoned;
  changed_.notify_all();
}

void GridBarrier::settle() {
  if (waiting_ == 0 || left_ == 0 || waiting_ + left_ < blocks_ || end_ != Outcome::passed) return;
  end_ = Outcome::missed;
  changed_.notify_all();
}

}  // namespace convlab::simt::internal
