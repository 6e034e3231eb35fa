// Tests the occupancy calculation: how many blocks of a kernel fit on a multiprocessor. Expected values are worked out
// by hand from the tables in the CUDA C++ Programming Guide and agree with CUDA's occupancy calculator.

#include "convlab/warps/occupancy.h"

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
      // Capability 9.0: 64 warps, 32 blocks, 65536 registers, 228 KiB.
      {90, 256, 32, 0, 8, "threads"},                // 2048 / 256; registers would allow 65536 / (32 * 256) = 8, too
      {90, 256, 33, 0, 6, "registers"},              // 1056 per warp, rounded up to 1280: 12 per scheduler, 48 / 8
      {90, 1024, 64, 0, 1, "registers"},             // 2048 per warp: 8 warps per scheduler, 32 / 32
      {90, 32, 32, 0, 32, "blocks"},                 // 64 blocks of one warp would fit, but 32 is the limit
      {90, 128, 32, 48 * 1024, 4, "shared memory"},  // 228 / (48 + 1)
      {90, 128, 32, 57 * 1024, 3, "shared memory"},  // 228 / 58; 4 would fit without the system's 1 KiB
      {90, 100, 16, 0, 16, "threads"},               // 100 threads take 4 warps
      {90, 128, 0, 0, 16, "threads"},                // an unknown register count does not limit
      {90, 1024, 255, 0, 0, "registers"},            // cannot be launched
      // Capability 7.5: 32 warps, 16 blocks, 64 KiB in units of 256 bytes, none reserved by the system.
      {75, 256, 32, 0, 4, "threads"},
      {75, 32, 32, 0, 16, "blocks"},
      {75, 64, 32, 16 * 1024, 4, "shared memory"},
      {75, 64, 32, 16 * 1024 + 1, 3, "shared memory"},
      // Capability 8.6: 48 warps, 16 blocks, 100 KiB. 8.9: 24 blocks.
      {86, 256, 32, 0, 6, "threads"},
      {86, 512, 40, 0, 3, "threads"},
      {86, 512, 48, 0, 2, "registers"},  // 1536 per warp: 10 warps per scheduler, 40 / 16
      {86, 32, 32, 0, 16, "blocks"},
      {89, 32, 32, 0, 24, "blocks"},
      {89, 128, 32, 24 * 1024, 4, "shared memory"},
      // 7.0 has 96 KiB, 8.0 has 164 KiB, 10.0 is like 9.0, 12.0 is like 8.9.
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
