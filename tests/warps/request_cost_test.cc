// Tests the cost of a warp's memory requests.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "convlab/base/text.h"
#include "convlab/warps/kernel_counts.h"
#include "tests/support/paths.h"

namespace convlab {
namespace {

template <class Address>
MemoryCounts cost(MemorySpace space, size_t bytes, Address address, LaneMask lanes = UINT32_MAX) {
  std::vector<uintptr_t> addresses;
  for_each_lane(lanes, [&](int lane) { addresses.push_back(static_cast<uintptr_t>(address(lane))); });
  return cost_of(space, AccessType::load, lanes, addresses, bytes);
}

TEST(RequestCost, OfGlobalMemory) {
  constexpr auto kGlobal = MemorySpace::global;
  const MemoryCounts together = cost(kGlobal, 4, [](int lane) { return 4096 + 4 * lane; });
  EXPECT_EQ(together.requests, 1);
  EXPECT_EQ(together.lanes, 32);
  EXPECT_EQ(together.bytes, 128);
  EXPECT_EQ(together.sectors, 4);
  EXPECT_EQ(together.least_sectors, 4);
  EXPECT_EQ(cost(kGlobal, 4, [](int lane) { return 4100 + 4 * lane; }).sectors, 5);
  EXPECT_EQ(cost(kGlobal, 4, [](int lane) { return 4096 + 4 * (31 - lane); }).sectors, 4);
  EXPECT_EQ(cost(kGlobal, 4, [](int) { return 4096; }).sectors, 1);
  EXPECT_EQ(cost(kGlobal, 4, [](int) { return 4096; }).bytes, 4);
  EXPECT_EQ(cost(kGlobal, 4, [](int lane) { return 4096 + 128 * lane; }).sectors, 32);
  EXPECT_EQ(cost(kGlobal, 4, [](int lane) { return 4096 + 128 * (lane % 3); }).sectors, 3);
  EXPECT_EQ(cost(kGlobal, 16, [](int lane) { return 4096 + 16 * lane; }).sectors, 16);
  EXPECT_EQ(cost(kGlobal, 1, [](int lane) { return 4096 + lane; }).least_sectors, 1);
  EXPECT_EQ(cost(
                kGlobal, 4, [](int lane) { return 4096 + 4 * lane; }, 0xff)
                .sectors,
            1);
}

TEST(RequestCost, OfConstantMemoryIsOneWavefrontAnAddress) {
  constexpr auto kConstant = MemorySpace::constant;
  EXPECT_EQ(cost(kConstant, 4, [](int) { return 4096; }).wavefronts, 1);
  EXPECT_EQ(cost(kConstant, 4, [](int lane) { return 4096 + 4 * (lane / 8); }).wavefronts, 4);
}

TEST(RequestCost, OfSharedMemoryIsWhatAnH200Counts) {
  std::ifstream file(source_folder() / "results/counts/nvidia-h200-shared.txt");
  int patterns = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    std::istringstream words(line);
    std::string access, places;
    size_t bytes = 0;
    LaneMask lanes = 0;
    int64_t wavefronts = 0, conflicts = 0;
    words >> access >> bytes >> std::hex >> lanes >> std::dec >> places >> wavefronts >> conflicts;
    ASSERT_TRUE(words) << line;
    const std::vector<std::string> of_lanes = split(places, ',');
    ASSERT_EQ(of_lanes.size(), size_t{kLanes}) << line;
    std::vector<uintptr_t> addresses;
    for_each_lane(lanes,
                  [&](int lane) { addresses.push_back(std::stoul(of_lanes[static_cast<size_t>(lane)]) * bytes); });
    const MemoryCounts counts =
        cost_of(MemorySpace::shared, access == "load" ? AccessType::load : AccessType::store, lanes, addresses, bytes);
    EXPECT_EQ(counts.wavefronts, wavefronts) << line;
    EXPECT_EQ(counts.bank_conflicts(), conflicts) << line;
    ++patterns;
  }
  EXPECT_EQ(patterns, 288);
}

}  // namespace
}  // namespace convlab
