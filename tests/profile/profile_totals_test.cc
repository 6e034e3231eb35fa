// Tests profile totals, the rows that make up 90 % of them with their layers, and the Chrome trace, with synthetic
// recordings.

#include "convlab/profile/totals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "convlab/profile/chrome_trace.h"
#include "convlab/profile/gpu_time.h"
#include "tests/support/profile_recordings.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

TEST(Summary, AddsUpByNameAndRemembersTheLayers) {
  const ProfileTotals summary = summarize(gpu_recording());
  ASSERT_THAT(summary.activities, SizeIs(3));
  const TotalsRow& kernel = summary.activities[0];
  EXPECT_EQ(kernel.total_ns, 40'000'000);
  EXPECT_EQ(kernel.calls, 2);
  EXPECT_EQ(kernel.min_ns, 10'000'000);
  EXPECT_EQ(kernel.max_ns, 30'000'000);
  EXPECT_THAT(kernel.parts_ns, ElementsAre(Pair("conv1", 10'000'000), Pair("conv2", 30'000'000)));
  double sum = 0;
  for (const TotalsRow& row : summary.activities) sum += row.share;
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(Summary, CountsACallInsideAnotherOnceAndKeepsThreadsApart) {
  const ProfileTotals summary = summarize(gpu_recording());
  for (const TotalsRow& row : summary.calls) EXPECT_NE(row.name, "cuInit");
  ASSERT_THAT(summary.calls, SizeIs(3));
  EXPECT_EQ(summary.calls[2].name, "cudaLaunchKernel");
  EXPECT_EQ(summary.calls[2].calls, 3);  // one of them is nested in another thread's call, but only by its timestamps
}

TEST(Summary, OfNothingIsEmpty) {
  const ProfileTotals summary = summarize({});
  EXPECT_THAT(summary.activities, IsEmpty());
  EXPECT_THAT(summary.calls, IsEmpty());
  EXPECT_THAT(rows_above(summary.calls, 0.9), IsEmpty());
}

TEST(GpuTime, CountsWhatOverlapsOnce) {
  Recording recording;
  const auto add = [&](ActivityKind kind, const char* part, int64_t begin_ns, int64_t end_ns) {
    recording.activities.push_back({.kind = kind, .name = "x", .part = part, .begin_ns = begin_ns, .end_ns = end_ns});
  };
  add(ActivityKind::copy, "conv1", 0, 10);
  add(ActivityKind::kernel, "conv1", 5, 25);
  add(ActivityKind::api, "conv1", 6, 90);
  add(ActivityKind::kernel, "conv1", 10, 15);  // nested in the previous one
  add(ActivityKind::fill, "conv1", 20, 30);
  add(ActivityKind::kernel, "conv2", 22, 32);
  add(ActivityKind::kernel, "conv1", 40, 50);
  const std::vector<GpuTime> times = gpu_time(recording);
  ASSERT_THAT(times, SizeIs(2));
  EXPECT_EQ(times[0].part, "conv1");
  EXPECT_EQ(times[0].busy_ns, 40);     // 0 to 30, 40 to 50
  EXPECT_EQ(times[0].kernels_ns, 30);  // 5 to 25, 40 to 50
  EXPECT_EQ(times[0].copies_ns, 20);   // 0 to 10, 20 to 30
  EXPECT_EQ(times[0].both_ns(), 10);   // 5 to 10, 20 to 25
  EXPECT_EQ(times[1].busy_ns, 10);
  EXPECT_THAT(to_text(times), HasSubstr("conv2"));
  EXPECT_THAT(gpu_time({}), IsEmpty());
}

std::vector<std::string> names_above(const std::vector<double>& shares, double share) {
  std::vector<TotalsRow> rows;
  for (size_t i = 0; i < shares.size(); ++i) rows.push_back({.name = std::to_string(i), .share = shares[i]});
  std::vector<std::string> names;
  for (const TotalsRow& row : rows_above(rows, share)) names.push_back(row.name);
  return names;
}

TEST(RowsAbove, AreTheFewestThatExceedTheShare) {
  EXPECT_THAT(names_above({0.95, 0.05}, 0.9), ElementsAre("0"));
  EXPECT_THAT(names_above({0.5, 0.3, 0.15, 0.05}, 0.9), ElementsAre("0", "1", "2"));
  EXPECT_THAT(names_above({0.5, 0.25, 0.25}, 0.75), ElementsAre("0", "1", "2"));  // 75 % is not more than 75 %
  EXPECT_THAT(names_above({0.5, 0.2}, 0.9), ElementsAre("0", "1"));
}

TEST(RowsAbove, TextNamesTheLayersLongestFirst) {
  const std::string text = to_text(rows_above(summarize(gpu_recording()).activities, 0.8));
  EXPECT_EQ(text,
            "   83.71%  40.000ms  void conv<5>(float const*, \"x\")\n"
            "                     for 30.000ms conv2, 10.000ms conv1\n"
            "   83.71%  total\n");
}

using Json = nlohmann::ordered_json;

std::vector<Json> events_with(const Json& trace, const char* key, const std::string& value) {
  std::vector<Json> events;
  for (const Json& each : trace) {
    if (each.value(key, "") == value) events.push_back(each);
  }
  return events;
}

TEST(ChromeTrace, HasEveryActivityInMicrosecondsFromTheBegin) {
  const Recording recording = gpu_recording();
  const Json trace = chrome_trace(recording);
  EXPECT_EQ(events_with(trace, "ph", "X").size(), recording.activities.size());
  const std::vector<Json> copies = events_with(trace, "name", "[CUDA memcpy HtoD]");
  ASSERT_THAT(copies, SizeIs(1));
  EXPECT_NEAR(copies[0]["ts"].get<double>(), 3'000'120, 1e-6);
  EXPECT_NEAR(copies[0]["dur"].get<double>(), 7780.9, 1e-6);
  EXPECT_EQ(copies[0]["cat"], "copy");
  EXPECT_EQ(copies[0]["args"]["layer"], "images to the device");
  EXPECT_EQ(copies[0]["args"]["bytes"], 77'070'336);
  EXPECT_THAT(events_with(trace, "cat", "layer"), SizeIs(2));
  const std::vector<Json> kernels = events_with(trace, "cat", "kernel");
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0]["args"]["grid"], Json({128, 1, 1}));
}

TEST(ChromeTrace, ArrowsLeadFromTheOutermostCallToWhatItCaused) {
  const Json trace = chrome_trace(gpu_recording());
  const std::vector<Json> begins = events_with(trace, "ph", "s"), ends = events_with(trace, "ph", "f");
  ASSERT_THAT(begins, SizeIs(3));  // the fill has no API call in this recording
  ASSERT_THAT(ends, SizeIs(3));
  for (size_t i = 0; i < begins.size(); ++i) {
    EXPECT_EQ(begins[i]["id"], ends[i]["id"]);
    EXPECT_EQ(begins[i]["pid"], 0);
    EXPECT_EQ(ends[i]["pid"], 1);
    EXPECT_EQ(ends[i]["tid"], 7);
    EXPECT_LT(begins[i]["ts"].get<double>(), ends[i]["ts"].get<double>());
  }
  EXPECT_NEAR(begins[0]["ts"].get<double>(), 3'000'100.5, 1e-6);
}

TEST(Explanation, TellsKernelsFromCalls) {
  EXPECT_THAT(std::string(kKernelsVersusApiCalls), HasSubstr("A kernel is"));
  EXPECT_THAT(std::string(kKernelsVersusApiCalls), HasSubstr("An API call is"));
}

}  // namespace
}  // namespace convlab
