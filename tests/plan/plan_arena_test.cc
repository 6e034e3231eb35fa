// Tests packing of arrays with limited lifetimes into one memory arena.

#include "convlab/plan/arena.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/base/rng.h"

namespace convlab {
namespace {

TEST(Arena, NothingTakesNothing) {
  const Arena arena = pack_arena({});
  EXPECT_EQ(arena.bytes, 0);
  EXPECT_TRUE(arena.at.empty());
}

TEST(Arena, ArraysOfDifferentTimesShareMemory) {
  const Arena arena = pack_arena({{1000, 0, 1}, {1000, 2, 3}, {1000, 4, 4}});
  EXPECT_EQ(arena.bytes, 1024);
  EXPECT_THAT(arena.at, testing::Each(0));
}

TEST(Arena, ArraysOfOneTimeDoNot) {
  const Arena arena = pack_arena({{256, 0, 1}, {256, 1, 2}});
  EXPECT_EQ(arena.bytes, 512);
  EXPECT_NE(arena.at[0], arena.at[1]);
}

TEST(Arena, AChainNeedsItsTwoLargestNeighbors) {
  const Arena arena = pack_arena({{2560, 0, 1}, {5120, 1, 2}, {256, 2, 3}, {1024, 3, 4}});
  EXPECT_EQ(arena.bytes, 2560 + 5120);
}

TEST(Arena, TakesTheSmallestGapThatFits) {
  // Two long-lived blocks leave gaps of 1024 and 512 bytes at step 1. The 512-byte block goes into the smaller gap.
  const std::vector<Lifetime> lives{{8192, 0, 2}, {4096, 0, 0}, {2048, 0, 2}, {1024, 0, 0}, {768, 0, 2}, {512, 1, 1}};
  const Arena arena = pack_arena(lives);
  EXPECT_EQ(arena.at[5], arena.at[3]);
}

TEST(Arena, SizesThatOverflowAreBadInput) {
  const int64_t huge = int64_t{1} << 62;
  EXPECT_THROW(pack_arena({{huge, 0, 0}, {huge, 0, 0}}), Error);
}

TEST(Arena, RandomLifetimesNeverOverlapAndAlign) {
  Rng rng(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<Lifetime> lives(static_cast<size_t>(rng.integer(1, 30)));
    for (Lifetime& life : lives) {
      life.first = rng.integer(0, 20);
      life.last = rng.integer(life.first, 20);
      life.bytes = rng.integer(0, 5000);
    }
    const Arena arena = pack_arena(lives);
    int64_t most_at_once = 0;
    for (int64_t step = 0; step <= 20; ++step) {
      int64_t now = 0;
      for (const Lifetime& life : lives) now += life.first <= step && step <= life.last ? life.bytes : 0;
      most_at_once = std::max(most_at_once, now);
    }
    EXPECT_GE(arena.bytes, most_at_once);
    for (size_t a = 0; a < lives.size(); ++a) {
      EXPECT_EQ(arena.at[a] % kArenaAlignment, 0);
      EXPECT_LE(arena.at[a] + lives[a].bytes, arena.bytes);
      for (size_t b = 0; b < a; ++b) {
        if (lives[a].last < lives[b].first || lives[b].last < lives[a].first) continue;
        const bool apart = arena.at[a] + lives[a].bytes <= arena.at[b] || arena.at[b] + lives[b].bytes <= arena.at[a];
        ASSERT_TRUE(apart) << "lifetimes " << a << " and " << b;
      }
    }
  }
}

}  // namespace
}  // namespace convlab
