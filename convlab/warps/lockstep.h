#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convlab/warps/trace.h"

namespace convlab {

/// The events of a warp: each is the same for all lanes of `lanes`.
class WarpEvents {
 public:
  virtual ~WarpEvents() = default;
  virtual void block(const void* code, LaneMask lanes) = 0;

  /// `addresses`: one per lane of `lanes`, in lane order, of `bytes` each.
  virtual void access(EventKind kind, const void* code, LaneMask lanes, std::span<const uintptr_t> addresses,
                      size_t bytes) = 0;

  /// After the event at `code`, lanes that ran together diverge.
  virtual void diverged(const void* code) = 0;
};

/// Merges the lanes' traces into the events of a warp on a GPU, where lanes at the same instruction execute it
/// together. Lanes in the innermost function go first, and among these the ones whose block comes first in the order of
/// the control-flow graph. So lanes reconverge where loops end and branches join, as on a GPU.
class Lockstep {
 public:
  explicit Lockstep(WarpEvents& events) : events_(events) {}

  /// One lane of a warp, from the beginning of the thread block to its end.
  struct Lane {
    LaneTrace trace;
    const void* block = nullptr;         ///< its current basic block, as far as the trace is consumed
    std::vector<const void*> callers{};  ///< its blocks in the calling functions

    void begin() {
      trace.begin();
      block = nullptr;
      callers.clear();
    }
  };

  /// The control-flow graph that all traces extend.
  ControlFlow& flow() { return flow_; }

  /// Consumes events from the traces. Lanes of `unfinished` will add events before they wait for others: stops when one
  /// of them has no event left.
  void advance(std::span<Lane> lanes, LaneMask unfinished);

 private:
  /// Lanes that execute together.
  struct Group {
    int size = 0;
    LaneMask mask = 0;
    const void* block = nullptr;  ///< the current block of all of them
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
