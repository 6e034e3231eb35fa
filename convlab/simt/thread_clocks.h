#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "convlab/simt/warp_clock.h"

/// The happens-before order of a block's threads that atomic operations create in a barrier interval: vector clocks. A
/// thread's clock says which accesses of each other thread, up to a stamp of that thread's warp, happen before its next
/// access. A release adds the thread's clock to that of an address; an acquire adds the address's clock to that of the
/// thread.
namespace convlab::simt::internal {

class ThreadClocks {
 public:
  /// The object of CUDA's atomic functions (atomicAdd): their releases and acquires need not use the same address.
  static constexpr uintptr_t kAnyAddress = 0;

  /// Forgets all releases: the block begins, or all of its threads have reached a barrier.
  void restart();

  /// Returns whether any thread has released anything.
  bool in_use() const { return in_use_; }

  /// Returns whether all accesses of the record happen before what the lanes of `now` do. Of many warps that read a
  /// word, only the first is known.
  bool ordered(const AccessRecord& record, const AccessRecord& now) const;

  /// What `thread`, a lane of this warp, has done happens before what a thread does that acquires the object or any.
  void release(int thread, const WarpClock& warp, uintptr_t object);

  /// What `thread` did up to this stamp happens before what a thread does that acquires the object.
  void release_until(int thread, uint32_t stamp, uintptr_t object);

  void acquire(int thread, uintptr_t object);

  /// A relaxed read acquires only at the thread's next fence.
  void acquire_at_fence(int thread, uintptr_t object);
  void fence(int thread);

  /// Lanes of a warp share what they have acquired: __syncwarp.
  void share(int first_thread, LaneMask lanes);

 private:
  /// Stamps by thread. Equal versions have equal stamps; 0: all stamps are 0.
  struct Clock {
    std::vector<uint32_t> stamps;
    uint64_t version = 0;
  };
  void join(Clock& clock, const Clock& other);
  void raise(Clock& clock, int thread, uint32_t stamp);
  Clock& clock_of(int thread);

  bool in_use_ = false;
  uint64_t versions_ = 0;
  uint32_t partial_warps_ = 0;  // warps with a __syncwarp of a part of their lanes: stamps of several lanes may differ
  std::vector<Clock> clocks_, at_fence_;  // by thread
  std::unordered_map<uintptr_t, Clock> objects_;
};

}  // namespace convlab::simt::internal
