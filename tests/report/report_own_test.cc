// Tests the report about a user's own kernels, with synthetic measurements.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convlab/report/report.h"
#include "convlab/report/request_picture.h"
#include "tests/support/report_records.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFirst = "c1h70w70_k12r5s5";
constexpr const char* kSecond = "c12h33w33_k24r5s5";
constexpr const char* kFile = "mine/tiled.cuh";

size_t occurrences(const std::string& text, std::string_view what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// Counts of a load with 4 bytes per lane, where lane i accesses offset `distance` * i.
LineCounts line(MemorySpace space, const std::string& where, int64_t distance, int64_t cost) {
  LineCounts line{.where = where, .array = "a", .space = space, .type = AccessType::load, .access_bytes = 4};
  line.counts = {.requests = 100, .lanes = 3200, .bytes = 12800};
  (space == MemorySpace::shared ? line.counts.wavefronts : line.counts.sectors) = 100 * cost;
  (space == MemorySpace::shared ? line.counts.least_wavefronts : line.counts.least_sectors) =
      space == MemorySpace::shared ? 100 : 400;
  line.example = {.cost = cost, .lanes = UINT32_MAX};
  for (int lane = 0; lane < kLanes; ++lane) line.example.offsets[static_cast<size_t>(lane)] = distance * lane;
  return line;
}

SavedCounts counts(const std::string& kernel, const std::string& layer, int64_t sectors_a_request) {
  SavedCounts saved{.model = "fa19", .images = 1, .layer = layer, .kernel = kernel};
  saved.counts.kernel = "convolve";
  saved.counts.warps = 10;
  saved.counts.flops = 5000;
  saved.active_lanes = 32;
  saved.counts.lines = {line(MemorySpace::global, "tiled.cuh:2", 4 * sectors_a_request, sectors_a_request)};
  return saved;
}

ReportInput own_input() {
  ReportInput input{.semester = "fa19"};
  Answers& answers = input.answers;
  answers.model = "fa19";
  answers.problems = {kFirst, kSecond};
  answers.names = {"conv1", "conv2"};
  answers.data.images = Tensor(ElementType::u8, {10, 1, 28, 28});
  std::ranges::fill(answers.data.images.values<uint8_t>(), uint8_t{7});
  for (int i = 0; i < Answers::kClasses; ++i) {
    answers.data.labels.push_back(static_cast<uint8_t>(i));
    answers.predicted.push_back(i);
  }
  answers.scores.assign(100, 0.1f);
  input.machine = {.device = "a CPU", .cpu = "a CPU", .threads = 2, .system = "Linux 6", .driver = ""};
  input.own = {{.name = kFile, .source = "// <tiled>\nsum += a[i];\n", .device = "simt", .baseline = "cuda.basic"}};
  return input;
}

void add_verdict(ReportInput& input, const std::string& verdict, const std::string& reason = "") {
  SavedVerdict saved{.file = kFile, .verdict = verdict, .reasons = {}, .cases = {kFirst}};
  if (!reason.empty()) saved.reasons.push_back(reason);
  input.evidence.verdicts.push_back(std::move(saved));
}

void add_run(ReportInput& input, int64_t images, const std::string& device) {
  SavedRun run{.command = "m3.1 " + std::to_string(images) + " --kernel " + kFile,
               .lines = "Op Time: 0.0123\n",
               .model = "fa19",
               .device = device,
               .images = images,
               .accuracy = 1};
  run.layers = {
      {.name = "conv1", .op = "Conv", .problem = with_images(kFirst, images), .kernel = kFile, .op_time_s = 3}};
  input.evidence.runs.push_back(std::move(run));
}

const Deliverable& deliverable(const Report& report, std::string_view words) {
  const auto found = std::ranges::find_if(
      report.deliverables, [&](const Deliverable& each) { return each.what.find(words) != std::string::npos; });
  if (found == report.deliverables.end()) throw bad_input("no deliverable is called {}", words);
  return *found;
}

TEST(OwnReport, OfAFileWithoutAVerdictWantsOnlyThat) {
  const ReportInput input = own_input();
  const std::vector<Want> wants = wants_of(input.own[0], input);
  ASSERT_EQ(wants.size(), 1u);
  EXPECT_EQ(wants[0].command(input.own[0]), "convlab verify mine/tiled.cuh --device simt --json tiled-verdict.json");
  const Report report = make_report(input);
  EXPECT_FALSE(deliverable(report, "mine/tiled.cuh: passing verdict").there);
  EXPECT_THAT(report.html, AllOf(HasSubstr("Not verified"), HasSubstr("// &lt;tiled&gt;")));
}

TEST(OwnReport, SaysWhatIsWrongWithAWrongFileAndMeasuresNothing) {
  ReportInput input = own_input();
  add_verdict(input, "FAILED", "k1: 3 outputs are wrong; help: possibly <the sign> is wrong");
  EXPECT_EQ(wants_of(input.own[0], input).size(), 1u);
  const Report report = make_report(input);
  EXPECT_THAT(report.html, AllOf(HasSubstr("<strong>FAILED</strong>"), HasSubstr("possibly &lt;the sign&gt; is wrong"),
                                 HasSubstr("what went wrong, and how did you find it?"),
                                 HasSubstr("<strong>0 of 1</strong>"), Not(HasSubstr("Before and after"))));
  EXPECT_FALSE(deliverable(report, "(now FAILED)").there);
}

TEST(OwnReport, OfARightFileSaysWhatIsMissingAndWhatMakesIt) {
  ReportInput input = own_input();
  add_verdict(input, "PASSED");
  const Report report = make_report(input);
  EXPECT_TRUE(deliverable(report, "mine/tiled.cuh: passing verdict").there);
  EXPECT_THAT(deliverable(report, "outputs, correctness").commands,
              ElementsAre("convlab m3.1 100 --kernel mine/tiled.cuh --json tiled-m3.1-100.json",
                          "convlab m3.1 1000 --kernel mine/tiled.cuh --json tiled-m3.1-1000.json",
                          "convlab m3.1 10000 --kernel mine/tiled.cuh --json tiled-m3.1-10000.json"));
  EXPECT_THAT(deliverable(report, "Op Times before and after").commands,
              ElementsAre("convlab bench mine/tiled.cuh --device cuda --model fa19 -n 100,1000,10000 --against "
                          "cuda.basic --json tiled-times.json"));
  EXPECT_EQ(deliverable(report, "sectors, wavefronts").commands.size(), 2u);  // for the file and for its baseline
  EXPECT_THAT(report.html,
              AllOf(HasSubstr("id=\"own-1\""), HasSubstr("contenteditable"),
                    HasSubstr("why did you expect it to help?"), Not(HasSubstr("Predicted and measured times"))));
  EXPECT_THAT(report.html, Not(HasSubstr("id=\"optimizations\"")));
  input.semester = input.answers.model = "fa18";
  EXPECT_THAT(deliverable(make_report(input), "outputs, correctness").commands.at(0), HasSubstr("--semester fa18"));
}

TEST(OwnReport, OfACpusFileLeavesOutWhatTakesMinutes) {
  ReportInput input = own_input();
  input.own[0].device = "cpu";
  input.own[0].baseline = "cpu.direct";
  add_verdict(input, "PASSED");
  std::vector<std::string> here, elsewhere;
  for (const Want& want : wants_of(input.own[0], input)) {
    if (want.there) continue;
    (want.here ? here : elsewhere).push_back(want.arguments[0] + " " + want.arguments[1]);
  }
  EXPECT_THAT(here, ElementsAre("m2.1 100", "m2.1 1000", "profile fa19"));
  EXPECT_THAT(elsewhere, ElementsAre("m2.1 10000", "bench mine/tiled.cuh"));
}

TEST(OwnReport, HasOutputsTimesCountsAndLessons) {
  ReportInput input = own_input();
  add_verdict(input, "PASSED");
  add_run(input, 10, "simt");
  for (const int64_t images : kCourseSizes) {
    add_run(input, images, "cuda");
    for (const char* problem : {kFirst, kSecond}) {
      input.evidence.records.push_back(some_record(kFile, with_images(problem, images), 0.25));
      input.evidence.records.push_back(some_record("cuda.basic", with_images(problem, images), 1));
    }
  }
  for (const char* layer : {"conv1", "conv2"}) {
    input.evidence.counts.push_back(counts(kFile, layer, 4));
    input.evidence.counts.push_back(counts("cuda.basic", layer, 8));
  }
  input.evidence.counts[0].lessons = {{"tiled.cuh:2", "neighboring lanes should read neighbors", 0.5}};
  const Report report = make_report(input);
  for (const char* words : {"outputs, correctness", "Op Times before and after", "sectors, wavefronts", "roofline",
                            "tiled.cuh: counters", "lanes by sectors"}) {
    EXPECT_TRUE(deliverable(report, words).there) << words;
  }
  EXPECT_THAT(report.html,
              AllOf(HasSubstr("1.000 ms → 250.0 µs, <span class=\"good\">0.2500×</span>"),
                    HasSubstr("800 → 400, <span class=\"good\">0.5000×</span>"), HasSubstr("Op Time: 0.0123"),
                    HasSubstr("conv1: neighboring lanes should read neighbors"), HasSubstr("its times are CPU times")));
  // The overview: four times as fast, half the sectors, one lesson.
  EXPECT_THAT(report.html, AllOf(HasSubstr("<td class=\"number good\">4.000×</td>"),
                                 HasSubstr("<td class=\"number good\">0.5000×</td>")));
  // All of the kernel's cost is in its second line.
  EXPECT_THAT(report.html,
              HasSubstr("<span class=\"line costly\" style=\"--share:1.000\"><span class=\"cost\">100 %</span>"));
  // It is listed among convlab's own kernels.
  EXPECT_THAT(report.html, HasSubstr("<td class=\"name own\"><strong><code>mine/tiled.cuh</code>"));
}

TEST(OwnReport, ShowsAPredictionBesideTheMeasurement) {
  ReportInput input = own_input();
  add_verdict(input, "PASSED");
  const std::string problem = with_images(kFirst, 10000);
  input.evidence.records.push_back(some_record(kFile, problem, 3));
  input.evidence.predictions.push_back({kFile, problem, "NVIDIA H200", 2, "sectors at 8 TB/s"});
  EXPECT_THAT(make_report(input).html, AllOf(HasSubstr("Prediction and measurement"), HasSubstr("sectors at 8 TB/s"),
                                             HasSubstr("<td class=\"number\">1.500×</td>")));
  EXPECT_FALSE(deliverable(make_report(input), "prediction of the gain over cuda.basic").there);

  // `convlab predict` predicts half the baseline's time; the measured ratio is three quarters.
  input.evidence.predictions.back().from = "cuda.basic";
  input.evidence.predictions.back().from_ms = 4;
  input.evidence.records.push_back(some_record("cuda.basic", problem, 4));
  EXPECT_THAT(make_report(input).html,
              AllOf(HasSubstr("<td class=\"number\">0.5000×</td>"), HasSubstr("<td class=\"number\">0.7500×</td>")));
  EXPECT_TRUE(deliverable(make_report(input), "prediction of the gain over cuda.basic").there);
}

TEST(OwnReport, OfAFileThatComputesInItsPrologTellsTheWhole) {
  ReportInput input = own_input();
  add_verdict(input, "PASSED");
  add_run(input, 100, "cuda");
  input.evidence.runs[0].file_phases = {{kFile, with_images(kFirst, 100), 0.5, true}};
  Record record = some_record(kFile, with_images(kFirst, 10000), 3);
  record.layer_ms = summarize({44});
  record.computes_in_prolog = true;
  input.evidence.records.push_back(record);
  const std::string html = make_report(input).html;
  EXPECT_THAT(html,
              AllOf(HasSubstr("500.0 ms: computes in its prolog"), HasSubstr("Prolog to epilog time, mine/tiled.cuh"),
                    HasSubstr("44.00 ms"), Not(HasSubstr("Op Time, mine/tiled.cuh"))));
}

TEST(OwnReport, EvidenceOfAnotherFileIsNotTaken) {
  ReportInput input = own_input();
  add_verdict(input, "PASSED");
  input.evidence.verdicts[0].file = "other/tiled.cuh";
  EXPECT_THAT(make_report(input).html, HasSubstr("Not verified"));
  add_verdict(input, "PASSED");
  add_run(input, 100, "cuda");
  input.evidence.runs[0].layers[0].kernel = "other/tiled.cuh";
  EXPECT_EQ(deliverable(make_report(input), "outputs, correctness").commands.size(), 3u);
}

TEST(RequestPicture, MarksTheLanesThatWaitForABank) {
  const auto waits = [](int64_t distance) {
    return occurrences(request_picture(line(MemorySpace::shared, "f:1", distance, 1), "waits"), "class=\"waits\"");
  };
  EXPECT_EQ(waits(4), 0u);        // each lane has its own bank
  EXPECT_EQ(waits(0), 0u);        // all lanes read the same word
  EXPECT_EQ(waits(2 * 4), 16u);   // every second bank, two lanes each
  EXPECT_EQ(waits(32 * 4), 31u);  // all in one bank
  EXPECT_EQ(waits(33 * 4), 0u);   // a row with padding
}

TEST(RequestPicture, DrawsASectorAsWideAsItsBytes) {
  const std::string together = request_picture(line(MemorySpace::global, "f:1", 4, 4), "");
  EXPECT_EQ(occurrences(together, "class=\"odd\""), 2u);  // two of four columns
  EXPECT_EQ(occurrences(together, "class=\"lane\""), 64u);
  EXPECT_EQ(occurrences(together, "class=\"gone\""), 0u);
  EXPECT_THAT(together, AllOf(HasSubstr("4 sectors"), HasSubstr("100 % of the transferred bytes")));
  const std::string scattered = request_picture(line(MemorySpace::global, "f:1", 64, 32), "");
  EXPECT_EQ(occurrences(scattered, "class=\"odd\""), 16u);
  EXPECT_EQ(occurrences(scattered, "class=\"gone\""), 31u);  // every second sector is untouched
  LineCounts none = line(MemorySpace::global, "f:1", 4, 4);
  none.example = {};
  EXPECT_EQ(request_picture(none, ""), "");
}

}  // namespace
}  // namespace convlab
