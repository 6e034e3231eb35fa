#pragma once

#include <atomic>
#include <cstdint>
#include <string>

/// Detects kernels that hang.
namespace convlab::simt {

/// Sets the timeout for hangs. A launch is stuck if, for this much CPU time of a worker, no thread ends and none writes
/// to global memory that its block has not written yet. A fault then ends each worker's current thread. The default is
/// 30 seconds. Throws Error(bad_input) unless it is greater than 0 and at most a day.
void set_stuck_after(double seconds);

/// Ends running launches as if they were stuck: their faults show where. Async-signal-safe.
void end_launches();

/// Returns how many blocks this process has begun: it changes while launches make progress.
int64_t blocks_begun();

namespace internal {

/// How often a worker's timer checks progress during the timeout of set_stuck_after().
inline constexpr int kTicksUntilStuck = 8;

/// Returns the timeout of set_stuck_after(), in seconds.
double stuck_after();

void count_begun_block();

/// The progress of one worker in a launch. Its own thread's timer handler calls tick().
class Progress {
 public:
  /// Must be called before the first block of a launch.
  void begin_launch() {
    ticks_without_ = 0;
    stuck_ = false;
  }

  /// A CUDA thread ended, or wrote a word.
  void note() {  // only this worker's thread writes it
    made_.store(made_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// A CUDA thread is resumed.
  void note_resumed() { ++resumed_; }

  /// A timer tick. `of_grid` changes while any worker of the launch makes progress. Returns whether the worker is stuck
  /// from now on; always if the block is no longer needed.
  bool tick(std::atomic<int64_t>& of_grid, bool is_needed);

  bool is_stuck() const { return stuck_; }

  /// Returns whether it is stuck while one CUDA thread runs without waiting.
  bool spins() const { return spins_; }

  /// Returns how long there was no progress: "for 30 s".
  std::string stuck_text() const;

 private:
  std::atomic<int64_t> made_{0};  // threads that ended and words that were written
  int64_t last_made_ = 0, last_of_grid_ = 0;
  int ticks_without_ = 0;
  std::atomic<bool> stuck_{false};
  int64_t resumed_ = 0, resumed_at_last_tick_ = -1;  // how often a CUDA thread was resumed
  bool spins_ = false;
};

}  // namespace internal
}  // namespace convlab::simt
