#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/warps/trace.h"

namespace convlab {

/// What a warp does in one step: the same event for all lanes of `lanes`.
class WarpEvents {
 public:
  virtual ~WarpEvents() = default;
  virtual void block(const void* code, LaneMask lanes) = 0;

  /// `addresses`: one for each of `lanes`, in their order, of `bytes` each.
  virtual void access(EventKind kind, const void* code, LaneMask lanes, std::span<const uintptr_t> addresses,
                      size_t bytes) = 0;

  /// After the event at `code` the lanes that were together go different ways.
  virtual void diverged(const void* code) = 0;
};

/// Puts the lanes' traces together to what a warp does on a GPU, where lanes that come to the same instruction execute
/// it together. We let lanes in the innermost function go first, and of those the ones whose block comes first in the
/// order of the control flow: where loops end and branches meet, lanes wait for each other, as they do on a GPU.
class Lockstep {
 public:
  explicit Lockstep(WarpEvents& events) : events_(events) {}

  /// One lane of a warp, from the block's begin to its end.
  struct Lane {
    LaneTrace trace;
    const void* block = nullptr;         ///< where it is, as far as we have come
    std::vector<const void*> callers{};  ///< and where in the functions that called this one

    void begin() {
      trace.begin();
      block = nullptr;
      callers.clear();
    }
  };

  /// What all lanes' traces have learned.
  ControlFlow& flow() { return flow_; }

  /// Takes events off the traces. Lanes of `unfinished` will do more before they wait for others: we stop where one of
  /// them has no event left.
  void advance(std::span<Lane> lanes, LaneMask unfinished);

 private:
  /// Lanes that go together.
  struct Group {
    int size = 0;
    LaneMask mask = 0;
    const void* block = nullptr;  ///< where all of them are
    Lane* lanes[kLanes];
    const uint64_t* at[kLanes];
  };

  uint64_t key_of(uint64_t event, const void* block, size_t depth) const;
  void step(Group& group);
  static void leave(Group& group);
  static bool go_different_ways(const Group& group);

  ControlFlow flow_;
  WarpEvents& events_;
};

}  // namespace convlab
