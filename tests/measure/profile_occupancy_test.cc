// How many blocks of a kernel a multiprocessor holds: values worked out by hand from the CUDA C++ Programming Guide's
// tables, as CUDA's own occupancy calculator gives them.
#include "convlab/profile/occupancy.h"

#include <gtest/gtest.h>

namespace convlab {
namespace {

struct Case {
  int capability, threads, registers;
  size_t shared_bytes;
  int blocks;
  const char* limiter;
};

Occupancy occupancy(const Case& each) {
  KernelCounts counts;
  counts.block = {static_cast<unsigned>(each.threads), 1, 1};
  counts.dynamic_shared_bytes = each.shared_bytes;
  counts.registers = each.registers;
  return occupancy_of(counts, limits_of(each.capability));
}

TEST(Occupancy, IsAsWorkedOutByHand) {
  constexpr Case kCases[] = {
      // 9.0: 64 warps, 32 blocks, 65536 registers, 228 KiB.
      {90, 256, 32, 0, 8, "threads"},                // 2048 / 256; registers would allow 65536 / (32 * 256) = 8, too
      {90, 256, 33, 0, 6, "registers"},              // a warp takes 1056, rounded up to 1280: 12 a scheduler, 48 / 8
      {90, 1024, 64, 0, 1, "registers"},             // 2048 a warp: 8 a scheduler, 32 / 32
      {90, 32, 32, 0, 32, "blocks"},                 // 64 warps of one each, but 32 blocks
      {90, 128, 32, 48 * 1024, 4, "shared memory"},  // 228 / (48 + 1)
      {90, 128, 32, 57 * 1024, 3, "shared memory"},  // 228 / 58: without the system's KiB there would be 4
      {90, 100, 16, 0, 16, "threads"},               // 100 threads are 4 warps
      {90, 128, 0, 0, 16, "threads"},                // registers that nobody knows do not limit
      {90, 1024, 255, 0, 0, "registers"},            // cannot be launched at all
      // 7.5: 32 warps, 16 blocks, 64 KiB, none of it the system's, in units of 256 bytes.
      {75, 256, 32, 0, 4, "threads"},
      {75, 32, 32, 0, 16, "blocks"},
      {75, 64, 32, 16 * 1024, 4, "shared memory"},
      {75, 64, 32, 16 * 1024 + 1, 3, "shared memory"},
      // 8.6: 48 warps, 16 blocks, 100 KiB. 8.9: 24 blocks.
      {86, 256, 32, 0, 6, "threads"},
      {86, 512, 40, 0, 3, "threads"},
      {86, 512, 48, 0, 2, "registers"},  // 1536 a warp: 10 a scheduler, 40 / 16
      {86, 32, 32, 0, 16, "blocks"},
      {89, 32, 32, 0, 24, "blocks"},
      {89, 128, 32, 24 * 1024, 4, "shared memory"},
      // 7.0 has 96 KiB, 8.0 164, 10.0 is as 9.0, 12.0 as 8.9.
      {70, 128, 32, 32 * 1024, 3, "shared memory"},
      {80, 128, 32, 32 * 1024, 4, "shared memory"},
      {100, 128, 32, 48 * 1024, 4, "shared memory"},
      {120, 32, 32, 0, 24, "blocks"},
  };
  for (const Case& each : kCases) {
    const Occupancy found = occupancy(each);
    SCOPED_TRACE(testing::Message() << each.capability << ": " << each.threads << " threads, " << each.registers
                                    << " registers, " << each.shared_bytes << " bytes");
    EXPECT_EQ(found.blocks, each.blocks);
    EXPECT_EQ(found.limiter, each.limiter);
    EXPECT_EQ(found.warps, each.blocks * ((each.threads + 31) / 32));
  }
}

TEST(Occupancy, ShareIsOfTheWarpsThatFit) {
  EXPECT_DOUBLE_EQ(occupancy({90, 256, 33, 0, 0, ""}).share, 0.75);
  EXPECT_DOUBLE_EQ(occupancy({86, 512, 48, 0, 0, ""}).share, 32.0 / 48);
}

TEST(Occupancy, UnknownCapabilitiesAreAsTheNearestKnownBefore) {
  EXPECT_EQ(limits_of(103).compute_capability, 100);
  EXPECT_EQ(limits_of(72).compute_capability, 70);
  EXPECT_EQ(limits_of(61).compute_capability, 70);
  EXPECT_EQ(limits_of(130).compute_capability, 120);
}

}  // namespace
}  // namespace convlab
