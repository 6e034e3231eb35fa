// Tests how Records become the report's ladder of kernels: by machine, tuning and gain.

#include "convlab/report/ladder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/report_records.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Ladder, KeepsTheNewestOfATuningAndTheFastestTuning) {
  Record old = some_record("cuda.coarsened", "k1", 1), fresh = old, tuned = old, slow = old;
  fresh.hot_ms = summarize({3});
  fresh.when = "2026-02-01T00:00:00Z";
  tuned.tuning = {{"block_rows", 4}};
  tuned.hot_ms = summarize({2});
  slow.tuning = {{"block_rows", 8}};
  slow.hot_ms = summarize({9});
  Record followed = tuned;
  followed.hot_ms = summarize({1});
  followed.epilogue = "bias+relu";
  const std::vector<MachineRecords> machines = by_machine({fresh, old, slow, tuned, followed});
  ASSERT_EQ(machines.size(), 1u);
  ASSERT_EQ(machines[0].records.size(), 1u);
  EXPECT_EQ(machines[0].records[0].tuning, tuned.tuning);  // the faster untuned time is out of date
  EXPECT_EQ(machines[0].records[0].epilogue, "");
}

TEST(Ladder, GroupsByMachineGpusFirst) {
  Record host = some_record("cpu.direct", "k1", 1, "a CPU");
  host.device = DeviceKind::cpu;
  const std::vector<MachineRecords> machines = by_machine(
      {host, some_record("cuda.basic", "k1", 1, "NVIDIA H200"), some_record("cuda.basic", "k1", 1, "NVIDIA A10")});
  ASSERT_EQ(machines.size(), 3u);
  EXPECT_EQ(machines[0].machine.device, "NVIDIA H200");
  EXPECT_EQ(machines[1].machine.device, "NVIDIA A10");
  EXPECT_EQ(machines[2].machine.device, "a CPU");
  EXPECT_NE(machines[0].find("cuda.basic", "k1"), nullptr);
  EXPECT_EQ(machines[0].find("cuda.basic", "k2"), nullptr);
  EXPECT_EQ(machines[2].find("cuda.basic", "k1"), nullptr);
}

TEST(Ladder, AGainIsSureOnlyWhereItsIntervalSaysSo) {
  const Record slow = some_record("a", "k1", 3), fast = some_record("b", "k1", 1);
  const std::optional<Gain> faster = gain(&slow, &fast), slower = gain(&fast, &slow), same = gain(&fast, &fast);
  ASSERT_TRUE(faster && slower && same);
  EXPECT_DOUBLE_EQ(faster->ratio, 3);
  EXPECT_TRUE(faster->sure());
  EXPECT_LE(faster->low, 3);
  EXPECT_GE(faster->high, 3);
  EXPECT_TRUE(slower->sure());
  EXPECT_FALSE(same->sure());
  Record few = fast;
  few.hot_ms = summarize({1, 1});
  EXPECT_FALSE(gain(&slow, &few)->sure()) << "two samples tell nothing";
  EXPECT_FALSE(gain(nullptr, &fast).has_value());
  EXPECT_FALSE(gain(&fast, nullptr).has_value());
}

TEST(Ladder, EveryOwnKernelTellsWhatTheReportShows) {
  if (!has_cuda_kernels()) GTEST_SKIP() << "this build has no CUDA kernels, of which the report tells";
  int seen = 0;
  for (const KernelFacts& kernel : all_kernels({})) {
    if (!kernel.name.starts_with("cuda.")) continue;
    ++seen;
    EXPECT_EQ(kernel.device, DeviceKind::cuda);
    EXPECT_THAT(kernel.source, HasSubstr(".name = \"" + kernel.name + "\"")) << kernel.file;
    ASSERT_NE(kernel.registered, nullptr);
  }
  EXPECT_GT(seen, 10);
}

TEST(Ladder, ListsKernelsThatOnlyRecordsKnow) {
  const std::vector<KernelFacts> kernels =
      all_kernels({some_record("someone.elses", "k1"), some_record("cuda.basic", "k1")});
  const auto found = std::ranges::find(kernels, "someone.elses", &KernelFacts::name);
  ASSERT_NE(found, kernels.end());
  EXPECT_EQ(found->source, "");
  EXPECT_EQ(found->refusal("k1"), "");
  EXPECT_EQ(std::ranges::count(kernels, "cuda.basic", &KernelFacts::name), 1);
}

TEST(Ladder, KnowsWhatAKernelRefuses) {
  const std::vector<KernelFacts> kernels = all_kernels({});
  const auto winograd = std::ranges::find(kernels, "cuda.winograd", &KernelFacts::name);
  if (winograd == kernels.end()) GTEST_SKIP() << "this build has no CUDA kernels";
  EXPECT_EQ(winograd->refusal("c12h33w33_k24r5s5"), "");
  EXPECT_THAT(winograd->refusal("c12h33w33_k24r7s7"), HasSubstr("filter must be 3x3 or 5x5"));
}

TEST(Ladder, ChangesTheNumberOfImages) {
  EXPECT_EQ(with_images("c12h33w33_k24r5s5", 100), "n100_c12h33w33_k24r5s5");
  EXPECT_EQ(with_images("n3_c1h5w5_k2r3s3_p1", 1), "c1h5w5_k2r3s3_p1");
}

}  // namespace
}  // namespace convlab
