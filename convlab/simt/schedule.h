#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "convlab/simt/settings.h"
#include "convlab/warps/trace.h"

/// The order in which a launch runs its blocks, a block its warps, and a warp its lanes: see simt::Schedule.
namespace convlab::simt::internal {

/// A permutation of the block numbers of a grid.
class BlockOrder {
 public:
  BlockOrder() = default;
  BlockOrder(Schedule schedule, int64_t blocks);

  /// Returns the number in the grid of the block that runs as number `turn`, from 0.
  int64_t block_at(int64_t turn) const;
  Schedule schedule() const { return schedule_; }

 private:
  Schedule schedule_;
  int64_t blocks_ = 0;
  int half_bits_ = 0;  ///< half the width of the permuted numbers
};

/// Chooses which warp and lane of a block runs next.
class ThreadOrder {
 public:
  /// Starts the block that runs as number `turn`.
  void begin_block(Schedule schedule, int64_t turn, int warps);

  /// Returns the warps in the order in which they run until the next barrier.
  const std::vector<int>& next_warps();

  /// Returns a lane of the mask, which must not be empty.
  int next_lane(LaneMask ready) {
    return schedule_.order == Schedule::Order::in_order ? std::countr_zero(ready) : lane_out_of_order(ready);
  }

 private:
  int lane_out_of_order(LaneMask ready);
  uint64_t random();

  Schedule schedule_;
  uint64_t state_ = 0;
  std::vector<int> warps_;
};

}  // namespace convlab::simt::internal
