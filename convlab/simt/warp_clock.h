#pragma once

#include <cstdint>

#include "convlab/warps/trace.h"

/// When the lanes of a warp access memory.
namespace convlab::simt::internal {

/// The last accesses of one kind, write or read, to one cell.
struct AccessRecord {
  uint32_t epoch = 0;  ///< barrier interval; 0: never
  uint32_t stamp = 0;  ///< the warp's clock; of several lanes, see join() in shadow.cc
  LaneMask lanes = 0;  ///< of `warp`; several after reads or atomics by several lanes
  uint32_t warp : 5 = 0;
  uint32_t many_warps : 1 = 0;  ///< lanes of other warps accessed it, too
  uint32_t atomic : 1 = 0;      ///< all accesses are atomic operations or volatile reads
  uint32_t collective : 1 = 0;  ///< all accesses are warp-wide operations of these lanes together (wmma)
  uint32_t again : 1 = 0;       ///< write: some thread accessed the cell earlier in this epoch
  static constexpr int kCodeBits = 23;
  uint32_t code : kCodeBits = 0;  ///< lowest bits of the return address of one of the accesses; 0: unknown

  /// Returns true if the same lanes made both accesses and nothing ordered memory between them.
  bool is_beside(const AccessRecord& other) const {
    return epoch == other.epoch && stamp == other.stamp && lanes == other.lanes && warp == other.warp &&
           many_warps == other.many_warps;
  }
};
static_assert(sizeof(AccessRecord) == 16);

/// The happens-before order that __syncwarp created in one warp in this epoch.
struct WarpClock {
  uint32_t stamp = 1;            ///< of accesses now; incremented at each __syncwarp
  uint32_t ordered_through = 0;  ///< accesses with a stamp up to this one happen before all later accesses by any lane
  bool partial = false;          ///< `seen` is in use: a __syncwarp covered only a part of the warp
  bool released = false;         ///< `after_release` is in use
  uint32_t after_release[32];    ///< by lane: the stamp of accesses after its last release
  uint32_t seen[32]
               [32];  ///< vector clocks, [i][j]: accesses of lane j up to this stamp happen before what lane i does now

  void restart() {
    stamp = 1;
    ordered_through = 0;
    partial = false;
    released = false;
  }

  /// Returns the stamp of the lane's accesses now. next_stamp(): after a release, which ends a stamp of this lane only.
  uint32_t stamp_of(int lane) const { return released && after_release[lane] > stamp ? after_release[lane] : stamp; }
  uint32_t next_stamp(int lane);

  /// Records a __syncwarp of `mask`; `whole` is the mask of all lanes that the warp has.
  void synchronize(LaneMask mask, LaneMask whole);

  /// Returns true if all accesses in `record` by lanes outside `lanes` happen before what each of `lanes` does now.
  bool ordered(const AccessRecord& record, LaneMask lanes) const;
};

}  // namespace convlab::simt::internal
