// Tests the orders in which blocks, warps and lanes run.

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "convlab/simt/schedule.h"

namespace convlab::simt::internal {
namespace {

TEST(Schedule, IsAPermutationOfBlocksWarpsAndLanes) {
  for (const Schedule schedule :
       {Schedule{}, Schedule{Schedule::Order::reverse}, Schedule{Schedule::Order::random, 3}}) {
    for (const int64_t blocks : {1, 2, 3, 64, 1000}) {
      const BlockOrder order(schedule, blocks);
      std::set<int64_t> seen;
      for (int64_t turn = 0; turn < blocks; ++turn) seen.insert(order.block_at(turn));
      EXPECT_EQ(static_cast<int64_t>(seen.size()), blocks);
      EXPECT_EQ(*seen.begin(), 0);
      EXPECT_EQ(*seen.rbegin(), blocks - 1);
    }
    ThreadOrder threads;
    threads.begin_block(schedule, 0, 5);
    const std::vector<int>& warps = threads.next_warps();
    EXPECT_EQ(std::set<int>(warps.begin(), warps.end()), (std::set<int>{0, 1, 2, 3, 4}));
    for (int i = 0; i < 100; ++i) EXPECT_NE(0x80000101u >> threads.next_lane(0x80000101u) & 1, 0u);
  }
}

}  // namespace
}  // namespace convlab::simt::internal
