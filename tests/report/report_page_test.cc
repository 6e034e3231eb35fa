// Tests a whole report page, with synthetic measurements.

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <string_view>

#include "convlab/report/embedded.h"
#include "convlab/report/report.h"
#include "tests/support/report_records.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFirst = "c1h70w70_k12r5s5";
constexpr const char* kSecond = "c12h33w33_k24r5s5";

/// Synthetic answers: image i has label i and is classified correctly, except image 3.
ReportInput small_input() {
  ReportInput input{.semester = "fa19"};
  Answers& answers = input.answers;
  answers.model = "fa19";
  answers.layers = "conv 12@5x5";
  answers.problems = {kFirst, kSecond};
  answers.names = {"conv1", "conv2"};
  answers.data.images = Tensor(ElementType::u8, {10, 1, 28, 28});
  std::ranges::fill(answers.data.images.values<uint8_t>(), uint8_t{7});
  for (int i = 0; i < Answers::kClasses; ++i) {
    answers.data.labels.push_back(static_cast<uint8_t>(i));
    answers.predicted.push_back(i == 3 ? 4 : i);
  }
  answers.scores.assign(100, 0.1f);
  const std::vector<float> maps = {0, 1, 2, 3, 5, 5, 5, 5};
  answers.features.push_back({"conv1: Conv", Tensor::of<float>({1, 2, 2, 2}, maps)});
  input.machine = {.device = "a CPU", .cpu = "a CPU", .threads = 2, .system = "Linux 6", .driver = ""};
  return input;
}

/// Returns Records of all Op Times that the course asks for, for every CUDA kernel.
std::vector<Record> all_records() {
  std::vector<Record> records;
  for (const KernelFacts& kernel : all_kernels({})) {
    if (!kernel.of_course()) continue;
    for (const char* problem : {kFirst, kSecond}) {
      for (int64_t n : kCourseSizes)
        records.push_back(some_record(kernel.name, with_images(problem, n), 0.0001 * static_cast<double>(n)));
    }
  }
  return records;
}

const Deliverable& deliverable(const Report& report, std::string_view words) {
  const auto found = std::ranges::find_if(
      report.deliverables, [&](const Deliverable& each) { return each.what.find(words) != std::string::npos; });
  if (found == report.deliverables.end()) throw bad_input("no deliverable is called {}", words);
  return *found;
}

bool has_charts() { return !embedded_file("chart.min.js").empty(); }

TEST(ReportPage, WithoutMeasurementsSaysWhatMakesThem) {
  if (!has_cuda_kernels()) GTEST_SKIP() << "this build has no CUDA kernels, of which the report tells";
  const Report report = make_report(small_input());
  for (const char* words : {"(m1.1)", "(m1.2)", "(m2.1;", "(m3.1;", "(m4.1;", "(final;", "Kernels that together",
                            "API calls that", "own kernel", "Op Times of every", "The ladder", "wall time"}) {
    const Deliverable& missing = deliverable(report, words);
    EXPECT_FALSE(missing.there) << words;
    ASSERT_FALSE(missing.commands.empty()) << words;
    for (const std::string& command : missing.commands)
      EXPECT_THAT(report.html, HasSubstr("<code>" + command + "</code>"));
  }
  EXPECT_TRUE(deliverable(report, "Accuracy").there);
  EXPECT_THAT(
      deliverable(report, "(m3.1;").commands,
      testing::ElementsAre("convlab m3.1 100 --json fa19-m3.1-100.json", "convlab m3.1 1000 --json fa19-m3.1-1000.json",
                           "convlab m3.1 10000 --json fa19-m3.1-10000.json"));
}

TEST(ReportPage, CommandsAreOfTheSemester) {
  ReportInput input = small_input();
  input.semester = "fa18";
  input.answers.model = "fa18";
  const Report report = make_report(input);
  EXPECT_EQ(deliverable(report, "(m1.2)").commands.at(0),
            "convlab m1.2 10000 --semester fa18 --json fa18-m1.2-10000.json");
  EXPECT_THAT(deliverable(report, "Op Times of every").commands.at(0), HasSubstr("--model fa18"));
}

TEST(ReportPage, IsSelfContained) {
  ReportInput input = small_input();
  input.evidence.records = all_records();
  const std::string html = make_report(input).html;
  EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(html.ends_with("</html>\n"));
  EXPECT_FALSE(std::regex_search(html, std::regex(R"(\{\{[a-z]+\}\})"))) << "a place of page.html was left empty";
  // Everything that loads a resource has this form. Only data: URLs and anchors in the page are allowed.
  static const std::regex kReference(R"re((?:src|href)="([^"]*)")re");
  int references = 0;
  const std::string own = html.substr(0, html.find("<script"));
  for (std::sregex_iterator match(own.begin(), own.end(), kReference), end; match != end; ++match, ++references) {
    const std::string target = (*match)[1].str();
    EXPECT_TRUE(target.starts_with("#") || target.starts_with("data:")) << target;
  }
  EXPECT_GT(references, 20);
  const std::string style = own.substr(own.find("<style>"), own.find("</style>") - own.find("<style>"));
  EXPECT_THAT(style, AllOf(HasSubstr("body {"), Not(HasSubstr("url(")), Not(HasSubstr("@import"))));
}

TEST(ReportPage, ShowsTimesGainsAndCode) {
  if (!has_cuda_kernels()) GTEST_SKIP() << "this build has no CUDA kernels, of which the report tells";
  ReportInput input = small_input();
  input.evidence.records = all_records();
  for (Record& record : input.evidence.records) {
    if (record.kernel != "cuda.shared_tile") continue;
    record.hot_ms = record.op_ms = some_record("", "", record.hot_ms.median / 4).hot_ms;
  }
  const Report report = make_report(input);
  EXPECT_TRUE(deliverable(report, "Op Times of every").there) << deliverable(report, "Op Times of every").what;
  EXPECT_TRUE(deliverable(report, "The ladder").there);
  EXPECT_THAT(report.html, HasSubstr("1.000 → 0.2500, <span class=\"good\">4.000×</span>"));
  EXPECT_THAT(report.html, HasSubstr("__global__ void"));
  EXPECT_THAT(report.html, HasSubstr("<td>NVIDIA H200</td>"));
  EXPECT_EQ(report.html.find("data-chart=\"0\"") != std::string::npos, has_charts());
  EXPECT_EQ(report.html.find("is missing: this convlab was built without Chart.js") == std::string::npos, has_charts());

  input.evidence.records.pop_back();
  EXPECT_FALSE(deliverable(make_report(input), "Op Times of every").there) << "one is missing now";
}

TEST(ReportPage, NamesFromFilesAreText) {
  ReportInput input = small_input();
  const std::string evil = "</script><script>alert(1)</script><img src=x onerror='alert(2)'>";
  Record record = some_record(evil, with_images(kFirst, 100));
  record.machine.device = record.machine.system = record.limit = record.when = evil;
  input.evidence.records = {record};
  input.evidence.runs.push_back({.command = "m2.1 " + evil, .lines = evil, .model = "fa19", .images = 100});
  SavedProfile profile{.command = evil, .model = "fa19", .device_name = evil};
  profile.summary.activities = {{.name = evil, .share = 1, .total_ns = 5, .parts_ns = {{evil, 5}}}};
  profile.bill = {{.name = evil, .remedy = evil, .seconds = 1}};
  input.evidence.profiles = {profile};
  input.evidence.sources = {{evil, evil}};
  input.failed = {evil};
  const std::string html = make_report(input).html;
  EXPECT_THAT(html,
              AllOf(Not(HasSubstr("alert(1)</script>")), Not(HasSubstr("<img src=x")), HasSubstr("&lt;img src=x")));
  if (has_charts()) {
    EXPECT_THAT(html, HasSubstr("\\u003cimg src=x"));
  }
}

TEST(ReportPage, RunsOfTheCourseAreShownAsTheyPrinted) {
  ReportInput input = small_input();
  for (int64_t n : kCourseSizes) {
    input.evidence.runs.push_back({.command = fmt::format("m3.1 {}", n),
                                   .lines = fmt::format("Op Time: 0.{}\n", n),
                                   .time = "1.00user 0.50system",
                                   .model = "fa19",
                                   .images = n});
  }
  Report report = make_report(input);
  EXPECT_TRUE(deliverable(report, "(m3.1;").there);
  EXPECT_THAT(report.html, HasSubstr("$ time convlab m3.1 1000\nOp Time: 0.1000\n1.00user 0.50system"));
  input.evidence.runs[0].model = "fa18";
  report = make_report(input);
  EXPECT_FALSE(deliverable(report, "(m3.1;").there) << "a run of another semester's network counted";
  EXPECT_THAT(deliverable(report, "(m3.1;").commands, testing::ElementsAre(HasSubstr("m3.1 100 ")));
}

TEST(ReportPage, CountersStandWithTheirKernel) {
  if (!has_cuda_kernels()) GTEST_SKIP() << "this build has no CUDA kernels, of which the report tells";
  ReportInput input = small_input();
  input.evidence.counters.push_back({.kernel = "cuda.basic", .model = "fa19", .device = "NVIDIA H200"});
  SavedCounters& counters = input.evidence.counters[0];
  counters.functions = {
      {"void convlab::(anonymous namespace)::convolve<5>(float*)", "conv2", {{"sm__throughput.avg", 61.25}}},
      {"tanh", "tanh1", {{"sm__throughput.avg", 98.75}}}};
  counters.ncu = {{counters.functions[0].kernel, "conv2", {{"sm__throughput.avg", 61.75}}}, {"tanh", "tanh1", {}}};
  const Report report = make_report(input);
  EXPECT_THAT(report.html, AllOf(HasSubstr("<td>conv2</td><td><code>convolve</code></td><td class=\"number\">1</td>"
                                           "<td class=\"number\">61.2<br><small>ncu 61.8"),
                                 Not(HasSubstr("98.8"))));
  const Deliverable& charts = deliverable(report, "Utilization charts");
  EXPECT_FALSE(charts.there);
  EXPECT_THAT(charts.commands.at(0), AllOf(HasSubstr("cuda.shared_tile"), Not(HasSubstr("cuda.basic "))));

  counters.functions.clear();
  counters.refusal = "the driver <forbids> it";
  EXPECT_THAT(make_report(input).html, HasSubstr("No counters: the driver &lt;forbids&gt; it"));
}

size_t occurrences(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// Counters of one launch that takes `ns` and keeps the multiprocessors `percent` busy.
KernelCounters launch(const std::string& function, double ns, double percent) {
  return {function, "conv1", {{"sm__throughput.avg", percent}, {"gpu__time_duration.sum", ns}}};
}

TEST(ReportPage, LaunchesOfOneFunctionAreTakenTogether) {
  if (!has_cuda_kernels()) GTEST_SKIP() << "this build has no CUDA kernels, of which the report tells";
  ReportInput input = small_input();
  input.evidence.counters.push_back({.kernel = "cuda.winograd", .model = "fa19", .device = "NVIDIA H200"});
  input.evidence.counters[0].functions = {launch("void convlab::transform<5>(float*)", 1, 10), launch("gather", 5, 70),
                                          launch("void convlab::transform<5>(float*)", 1, 20),
                                          launch("void convlab::transform<3>(float*)", 2, 40)};
  const std::string html = make_report(input).html;
  EXPECT_THAT(html, HasSubstr("<td>conv1</td><td><code>transform</code></td><td class=\"number\">3</td>"
                              "<td class=\"number\">27.5</td>"));
  EXPECT_THAT(html, HasSubstr("<td>conv1</td><td><code>gather</code></td><td class=\"number\">1</td>"
                              "<td class=\"number\">70.0</td>"));
  EXPECT_EQ(occurrences(html, "\"conv1: transform\""), has_charts() ? 1U : 0U);
}

TEST(ReportPage, OneGpuHasOneChartAKernel) {
  if (!has_cuda_kernels()) GTEST_SKIP() << "this build has no CUDA kernels, of which the report tells";
  ReportInput input = small_input();
  const auto add = [&](const std::string& device, double percent) -> SavedCounters& {
    input.evidence.counters.push_back({.kernel = "cuda.basic", .model = "fa19", .device = device});
    input.evidence.counters.back().functions = {launch("convolve_basic", 5, percent)};
    return input.evidence.counters.back();
  };
  add("NVIDIA H200", 61.25);
  SavedCounters& compared = add("NVIDIA H200, 580.65", 61.5);
  compared.functions[0].metrics.pop_back();
  compared.ncu = {launch("convolve_basic", 5, 61.75)};
  const std::string chart = "<figcaption>Utilization of cuda.basic", table = "<caption><span>Utilization, ";
  std::string html = make_report(input).html;
  EXPECT_EQ(occurrences(html, chart), has_charts() ? 1U : 0U);
  EXPECT_EQ(occurrences(html, table), 1U);
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">61.2<br><small>ncu 61.8</small></td>"));

  add("NVIDIA H100", 50);
  html = make_report(input).html;
  EXPECT_EQ(occurrences(html, table), 2U);
  if (has_charts()) {
    EXPECT_THAT(html, AllOf(HasSubstr(chart + " on NVIDIA H200"), HasSubstr(chart + " on NVIDIA H100")));
  }
}

TEST(ReportPage, TextAndRooflineTellOneIntensity) {
  ReportInput input = small_input();
  input.evidence.records = {some_record("mine", with_images(kSecond, 10000))};
  const std::string html = make_report(input).html;
  EXPECT_THAT(html,
              HasSubstr("layer 2: 300 multiply-adds per output, 12.1 Mflop per image, 91 flops per compulsory byte"));
  if (has_charts()) {
    EXPECT_THAT(html, HasSubstr(fmt::format("\"x\":{}", Page::Json(intensity(with_images(kSecond, 10000))).dump())));
    EXPECT_EQ(fmt::format("{:.3g}", intensity(with_images(kSecond, 10000))), "91");
  }
}

TEST(ReportPage, ABusyMachineIsNamed) {
  ReportInput input = small_input();
  input.evidence.runs = {{.command = "m1.1 10000", .model = "fa19", .images = 10000, .waited_share = 0.43},
                         {.command = "m2.1 100", .model = "fa19", .images = 100, .waited_share = 0.01},
                         {.command = "m2.1 1000", .model = "fa19", .images = 1000}};
  const std::string html = make_report(input).html;
  EXPECT_THAT(html, AllOf(HasSubstr("<td class=\"number bad\">43 %</td>"), HasSubstr("<td class=\"number\">1 %</td>"),
                          HasSubstr("during <code>m1.1 10000</code>: these times are too long.")));
  input.evidence.runs[0].waited_share = 0.1;
  EXPECT_THAT(make_report(input).html, Not(HasSubstr("these times are too long")));
}

TEST(ReportPage, RunsForTheCountersOfOneKernelAreNoProfile) {
  ReportInput input = small_input();
  input.evidence.profiles.push_back(
      {.command = "convlab run fa19 --kernel cuda.basic", .model = "fa19", .device = "cuda", .counted = true});
  EXPECT_FALSE(deliverable(make_report(input), "own kernel").there);
  input.evidence.profiles[0].counted = false;
  EXPECT_TRUE(deliverable(make_report(input), "own kernel").there);
  input.evidence.profiles[0] = {.command = "convlab run fa19", .model = "fa19", .device = "cuda", .counted = true};
  EXPECT_TRUE(deliverable(make_report(input), "own kernel").there);
  input.evidence.profiles[0].command = "convlab run fa19 --kernel cudnn";
  input.evidence.profiles[0].counted = false;
  EXPECT_FALSE(deliverable(make_report(input), "own kernel").there) << "the library's is not our own";
  EXPECT_TRUE(deliverable(make_report(input), "Kernels that together").there);
}

TEST(ReportPage, AnswersAreCounted) {
  const Answers answers = small_input().answers;
  EXPECT_EQ(answers.accuracy(10), 0.9);
  EXPECT_EQ(answers.accuracy(3), 1.0);
  const Answers::Confusion counts = answers.confusion();
  EXPECT_EQ(counts[3][4], 1);
  EXPECT_EQ(counts[3][3], 0);
  EXPECT_EQ(counts[9][9], 1);
  EXPECT_EQ(answers.examples(3, false, 5), (std::vector<int64_t>{3}));
  EXPECT_TRUE(answers.examples(3, true, 5).empty());
  EXPECT_TRUE(answers.examples(2, true, 0).empty());
}

}  // namespace
}  // namespace convlab
