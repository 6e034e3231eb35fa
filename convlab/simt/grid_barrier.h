#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

/// The barrier of a cooperative launch. All blocks of the launch run at once, each on an OS thread of its own, which
/// waits here. Static shared memory is one copy per OS thread, so a worker could not keep several blocks.
namespace convlab::simt::internal {

class GridBarrier {
 public:
  explicit GridBarrier(int64_t blocks) : blocks_(blocks) {}

  enum class Outcome : uint8_t {
    passed,
    abandoned,  ///< another block has a fault that ends the kernel
    missed,     ///< all other blocks wait, too, or have ended
  };

  /// Waits for all blocks. The last one to arrive calls `complete` before any of them continues.
  Outcome wait(const std::function<void()>& complete);

  /// A block has ended.
  void leave(int64_t block, bool is_faulty);

  /// Ends the wait of all blocks.
  void abandon();

  /// Returns the first block that has ended, after wait() has returned `missed`.
  int64_t missing_block() const { return first_left_; }

 private:
  void settle();

  const int64_t blocks_;
  std::mutex mutex_;  ///< guards the members below
  std::condition_variable changed_;
  int64_t waiting_ = 0, left_ = 0, first_left_ = INT64_MAX;
  uint64_t passes_ = 0;
  Outcome end_ = Outcome::passed;  ///< what all waits return from now on, unless it is `passed`
};

}  // namespace convlab::simt::internal
