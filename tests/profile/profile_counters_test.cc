// Tests how hardware counters are interpreted and shown, whatever tool they come from.

#include "convlab/profile/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace convlab {
namespace {

using testing::HasSubstr;

const std::string kCompute = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
const std::string kMemory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";

std::string stall(const std::string& reason) {
  return "smsp__average_warps_issue_stalled_" + reason + "_per_issue_active.ratio";
}

TEST(Counters, AValueIsFoundByTheBeginningOfItsName) {
  const KernelCounters counters{.kernel = "k", .part = "conv1", .metrics = {{kCompute, 12.5}}};
  EXPECT_EQ(counters.value("sm__throughput"), 12.5);
  EXPECT_TRUE(std::isnan(counters.value("dram__throughput")));
}

TEST(Counters, TheLimitIsWhatIsBusyOrElseWhatWarpsWaitFor) {
  const auto limit = [](double compute, double memory) {
    return limit_of({.kernel = "k",
                     .part = "conv1",
                     .metrics = {{kCompute, compute},
                                 {kMemory, memory},
                                 {stall("barrier"), 0.5},
                                 {stall("long_scoreboard"), 2.5},
                                 {stall("selected"), 9},
                                 {stall("not_selected"), 9}}});
  };
  EXPECT_EQ(limit(81, 40), "compute, 81 % of peak");
  EXPECT_EQ(limit(81, 92), "memory, 92 % of peak");
  EXPECT_EQ(limit(60, 20), "compute, 60 % of peak");
  EXPECT_EQ(limit(59, 20), "latency: warps wait for data from memory or L2");
  EXPECT_EQ(limit_of({}), "latency");
}

TEST(Counters, TheTableShowsThemByKernelOrWhyThereAreNone) {
  const Utilisation taken{.kernels = {{.kernel = "void convlab::(anonymous namespace)::conv<5>(float*)",
                                       .part = "conv1",
                                       .metrics = {{kCompute, 81.26}, {kMemory, 40}}}},
                          .refusal = ""};
  EXPECT_EQ(to_text(taken),
            "  compute   memory     DRAM       L2  occupancy  layer, kernel, limit\n"
            "        %        %        %        %          %\n"
            "     81.3     40.0        -        -          -  conv1: conv: "
            "compute, 81 % of peak\n");
  EXPECT_EQ(to_text({.kernels = {}, .refusal = "ask"}), "no counters: ask\n");
}

TEST(Counters, WithoutKernelsThereAreNone) {
  const Utilisation none = take_counters({}, [] { FAIL() << "nothing is to be run"; });
  EXPECT_FALSE(none.refusal.empty());
}

}  // namespace
}  // namespace convlab
