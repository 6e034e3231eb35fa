// Tests reading of results as evidence for reports: Records, runs, profiles, counters and predictions.

#include "convlab/evidence/evidence.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "convlab/base/file.h"
#include "tests/support/paths.h"
#include "tests/support/report_records.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;

const ordered_json kRun = ordered_json::parse(R"({
  "command": "m2.1 10", "lines": "New Inference\n", "model": "fa19", "images": 10, "accuracy": 0.9, "device": "cpu",
  "math": "fp32", "plan": "layers", "threads": 2, "network_s": 0.5, "load_s": 0.1, "total_s": 0.7, "max_rss_kb": 1000,
  "waited_share": 0.5,
  "layers": [{"name": "conv1", "op": "Conv", "problem": "n10_c1h70w70_k12r5s5", "kernel": "cpu.direct",
              "op_time_s": 0.01, "gflops": 3}]})");

const ordered_json kProfile = ordered_json::parse(R"({
  "command": "convlab run fa19", "model": "fa19", "images": 10, "device": "cpu", "device_name": "a CPU",
  "profiling": {"overhead": 0.01},
  "summary": {"activities": [{"name": "cpu.direct", "share": 1, "time_s": 0.002, "calls": 2, "min_s": 0.001,
                              "max_s": 0.001, "parts": [{"name": "conv1", "time_s": 0.002}]}], "calls": []},
  "startup": {"wall_s": 0.7, "unattributed_s": 0.1,
              "parts": [{"name": "reading the data", "s": 0.6, "remedy": "read less"}]}})");

TEST(Evidence, OfThisRepositoryIsRead) {
  Evidence evidence;
  add_evidence(evidence, source_folder() / "results");
  EXPECT_FALSE(evidence.records.empty());
  EXPECT_FALSE(evidence.runs.empty());
  EXPECT_TRUE(evidence.verdicts.empty()) << "files of a study are no verdicts on somebody's own";
}

TEST(Evidence, TellsRecordsRunsAndProfilesApart) {
  Evidence evidence;
  add_evidence(evidence, ordered_json::array({to_json(some_record("cpu.direct", "k1"))}).dump(), "bench.json");
  add_evidence(evidence, kRun.dump(), "run.json");
  add_evidence(evidence, kProfile.dump(), "profile.json");
  ASSERT_EQ(evidence.records.size(), 1u);
  EXPECT_EQ(evidence.records[0].kernel, "cpu.direct");
  ASSERT_EQ(evidence.runs.size(), 1u);
  EXPECT_EQ(evidence.runs[0].script(), "m2.1");
  EXPECT_EQ(evidence.runs[0].source, "run.json");
  EXPECT_EQ(evidence.runs[0].layers.at(0).op_time_s, 0.01);
  EXPECT_FALSE(evidence.runs[0].user_s.has_value());
  EXPECT_EQ(evidence.runs[0].waited_share, 0.5);
  ASSERT_EQ(evidence.profiles.size(), 1u);
  EXPECT_EQ(evidence.profiles[0].summary.activities.at(0).total_ns, 2'000'000);
  EXPECT_EQ(evidence.profiles[0].summary.activities.at(0).parts_ns.at("conv1"), 2'000'000);
  ASSERT_EQ(evidence.profiles[0].bill.size(), 2u);
  EXPECT_EQ(evidence.profiles[0].bill[0].remedy, "read less");
  EXPECT_EQ(evidence.profiles[0].bill[1].seconds, 0.1);
  ASSERT_EQ(evidence.sources.size(), 3u);
  EXPECT_EQ(evidence.sources[0].content, "1 Records");
}

TEST(Evidence, ProfilesMayHaveCounters) {
  ordered_json profile = kProfile;
  profile["command"] = "convlab run fa19 --kernel cuda.basic --plan layers";
  profile["utilisation"] = ordered_json::parse(
      R"({"refusal": "",
          "kernels": [{"name": "f", "part": "conv1", "limit": "", "metrics": {"sm__throughput.x": 40}}]})");
  Evidence evidence;
  add_evidence(evidence, kProfile.dump(), "a.json");
  add_evidence(evidence, profile.dump(), "b.json");
  EXPECT_FALSE(evidence.profiles[0].counted);
  EXPECT_EQ(evidence.profiles[0].forced_kernel(), "");
  EXPECT_TRUE(evidence.profiles[1].counted);
  EXPECT_EQ(evidence.profiles[1].forced_kernel(), "cuda.basic");
  ASSERT_EQ(evidence.counters.size(), 1u);
  EXPECT_EQ(evidence.counters[0].kernel, "cuda.basic");
  EXPECT_EQ(evidence.counters[0].functions.at(0).part, "conv1");
  EXPECT_EQ(evidence.counters[0].functions.at(0).value("sm__throughput"), 40);
  profile["utilisation"]["kernels"][0]["metrics"]["sm__throughput.x"] = "40";
  EXPECT_THAT(bad_input_message([&] { add_evidence(evidence, profile.dump(), "c.json"); }),
              AllOf(HasSubstr("c.json.utilisation.kernels[0].metrics"), HasSubstr("sm__throughput.x")));
}

TEST(Evidence, ReadsCountersThatStandBesideNcus) {
  const auto row = [](const char* kernel, const char* layer, double value) {
    return ordered_json{{"kernel", kernel},
                        {"layer", layer},
                        {"function", "f"},
                        {"metrics", {{"sm__throughput.x", {{"convlab", value}, {"ncu", value + 1}}}}}};
  };
  ordered_json comparison{{"gpu", "NVIDIA H200"}, {"model", "fa19"}, {"images", 1000}};
  comparison["rows"] = {row("a", "conv1", 1), row("b", "conv1", 2), row("a", "conv2", 3)};
  Evidence evidence;
  add_evidence(evidence, comparison.dump(), "x.json");
  ASSERT_EQ(evidence.counters.size(), 2u);
  EXPECT_EQ(evidence.counters[0].kernel, "a");
  EXPECT_EQ(evidence.counters[0].images, 1000);
  EXPECT_EQ(evidence.counters[0].functions.at(1).value("sm__throughput"), 3);
  EXPECT_EQ(evidence.counters[0].ncu.at(1).value("sm__throughput"), 4);
  EXPECT_EQ(evidence.counters[1].functions.at(0).part, "conv1");
  comparison["rows"][0]["metrics"]["sm__throughput.x"].erase("ncu");
  EXPECT_THAT(bad_input_message([&] { add_evidence(evidence, comparison.dump(), "x.json"); }),
              HasSubstr("x.json.rows[0].metrics.sm__throughput.x: member 'ncu' is missing"));
}

std::string complaint_about(const std::string& text) {
  Evidence evidence;
  return bad_input_message([&] { add_evidence(evidence, text, "x.json"); });
}

TEST(Evidence, ReadsNetworksBesideAFrameworks) {
  ordered_json networks{{"gpu", "NVIDIA H200"}, {"peer", "PyTorch 2"}, {"when", "2026-01-31T12:00:00Z"}};
  networks["rows"] = {{{"work", "fa19 network"},
                       {"math", "fp16"},
                       {"convlab", {{"ms", 0.5}}},
                       {"peer", {{"ms", 4.0}, {"way", "NHWC"}}}}};
  Evidence evidence;
  add_evidence(evidence, networks.dump(), "n.json");
  ASSERT_EQ(evidence.networks.size(), 1u);
  ASSERT_EQ(evidence.networks[0].rows.size(), 1u);
  EXPECT_EQ(evidence.networks[0].rows[0].peer_ms / evidence.networks[0].rows[0].ms, 8);
  networks["rows"][0]["peer"].erase("ms");
  EXPECT_THAT(bad_input_message([&] { add_evidence(evidence, networks.dump(), "m.json"); }),
              AllOf(HasSubstr("m.json.rows[0].peer"), HasSubstr("'ms'")));
}

TEST(Evidence, ReadsWhatSimtCounted) {
  ordered_json counts = ordered_json::parse(R"({"model": "fa19", "images": 1, "device": "simt", "kernels": [{
    "layer": "conv1", "kernel": "a.cuh", "function": "f", "launches": 1, "warps": 2, "flops": 64, "active_lanes": 31.5,
    "occupancy": {"blocks": 8, "share": 0.5, "limiter": "threads"},
    "lines": [{"where": "a.cuh:3", "array": "x", "memory": "shared", "access": "load", "access_bytes": 4, "requests": 2,
               "lanes": 40, "bytes": 160, "sectors": 0, "least_sectors": 0, "wavefronts": 6, "least_wavefronts": 2,
               "example": {"cost": 3, "lanes": [0, 5], "offsets": [128, 256]}}],
    "lessons": [{"where": "a.cuh:3", "text": "pad it", "share": 0.5}]}]})");
  Evidence evidence;
  add_evidence(evidence, counts.dump(), "c.json");
  ASSERT_EQ(evidence.counts.size(), 1u);
  const SavedCounts& saved = evidence.counts[0];
  EXPECT_EQ(saved.kernel, "a.cuh");
  EXPECT_EQ(saved.counts.lines.at(0).counts.bank_conflicts(), 4);
  EXPECT_EQ(saved.counts.lines[0].example.lanes, 0x21u);
  EXPECT_EQ(saved.counts.lines[0].example.offsets[5], 256);
  EXPECT_EQ(saved.lessons.at(0).text, "pad it");
  EXPECT_EQ(saved.active_lanes, 31.5);
  const auto complaint = [&] { return bad_input_message([&] { add_evidence(evidence, counts.dump(), "c.json"); }); };
  ordered_json& line = counts["kernels"][0]["lines"][0];
  line["example"]["lanes"] = {0, 32};
  EXPECT_THAT(complaint(), HasSubstr("c.json.kernels[0].lines[0].example: 'lanes' and 'offsets' must"));
  line["example"]["lanes"] = {0};
  EXPECT_THAT(complaint(), HasSubstr("'lanes' and 'offsets' must"));
  line.erase("example");
  line["memory"] = "paper";
  EXPECT_THAT(complaint(), HasSubstr("'memory' has the unknown value 'paper'"));
}

TEST(Evidence, ReadsVerdictsAndPredictions) {
  Evidence evidence;
  add_evidence(evidence, R"({"files": [{"file": "a.cuh", "verdict": "FAILED", "reason": "", "cases": [
    {"problem": "k1", "reason": "wrong", "counts": true}, {"problem": "k2", "reason": "odd", "counts": false}]},
    {"file": "b.cuh", "verdict": "PASSED", "reason": "",
     "cases": [{"problem": "k1", "reason": "", "counts": true, "largest_error": 0.5}]}]})",
               "v.json");
  ASSERT_EQ(evidence.verdicts.size(), 2u);
  EXPECT_FALSE(evidence.verdicts[0].passed());
  EXPECT_THAT(evidence.verdicts[0].reasons, testing::ElementsAre("k1: wrong"));
  EXPECT_TRUE(evidence.verdicts[1].passed());
  EXPECT_EQ(evidence.verdicts[1].largest_error, 0.5);
  add_evidence(evidence,
               R"({"predictions": [{"kernel": "a.cuh", "problem": "k1", "device": "d", "ms": 2, "why": "w"}]})",
               "p.json");
  EXPECT_EQ(evidence.predictions.at(0).ms, 2);
  EXPECT_THAT(bad_input_message([&] {
                add_evidence(
                    evidence,
                    R"({"predictions": [{"kernel": "a", "problem": "k1", "device": "d", "ms": 0, "why": "w"}]})",
                    "p.json");
              }),
              HasSubstr("'ms' must be greater than 0"));
}

TEST(Evidence, SaysWhereAFileIsWrong) {
  EXPECT_THAT(complaint_about("{\n\"a\": 1,\n oops}"),
              AllOf(HasSubstr("x.json: invalid JSON at line 3"), HasSubstr("byte")));
  EXPECT_THAT(complaint_about(""), HasSubstr("x.json: invalid JSON at line 1"));
  EXPECT_THAT(complaint_about("3"), HasSubstr("x.json: not a file for a report"));
  EXPECT_THAT(complaint_about(R"({"some": "thing"})"), HasSubstr("convlab bench"));
  EXPECT_THAT(complaint_about("[3]"), HasSubstr("x.json, entry 0"));
  ordered_json record = to_json(some_record("cpu.direct", "k1"));
  record["hot_ms"].erase("median");
  EXPECT_THAT(complaint_about(ordered_json::array({record}).dump()),
              AllOf(HasSubstr("x.json, entry 0.hot_ms"), HasSubstr("median")));
  ordered_json run = kRun;
  run["layers"][0]["gflops"] = "fast";
  EXPECT_THAT(complaint_about(run.dump()), HasSubstr("x.json.layers[0]: 'gflops' must be a number"));
  ordered_json profile = kProfile;
  profile["summary"]["activities"][0]["time_s"] = 1e300;
  EXPECT_THAT(complaint_about(profile.dump()), HasSubstr("x.json.summary.activities[0]: 'time_s' must be a time"));
  profile = kProfile;
  profile["startup"]["parts"] = 4;
  EXPECT_THAT(complaint_about(profile.dump()), HasSubstr("x.json.startup: 'parts' must be a list"));
}

TEST(Evidence, ReadsFoldersInTheOrderOfNames) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "b");
  write_file(folder.path() / "b" / "z.json", kRun.dump());
  write_file(folder.path() / "c.json", kProfile.dump());
  write_file(folder.path() / "a.txt", std::string_view("no evidence"));
  write_file(folder.path() / "d.json", std::string_view("{}"));
  Evidence evidence;
  add_evidence(evidence, folder.path());
  ASSERT_EQ(evidence.sources.size(), 3u);
  EXPECT_THAT(evidence.sources[2].content, HasSubstr("not shown"));
  EXPECT_THAT(evidence.sources[0].file, HasSubstr("z.json"));
  EXPECT_THAT(evidence.sources[1].file, HasSubstr("c.json"));
  EXPECT_THAT(bad_input_message([&] { add_evidence(evidence, folder.path() / "gone.json"); }), HasSubstr("gone.json"));
}

}  // namespace
}  // namespace convlab
