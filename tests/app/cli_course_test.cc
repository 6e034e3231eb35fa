// Tests the course's scripts on the real data: their exact output, the kernels they run and their exit statuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "convlab/kernels/kernel.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/source_tree.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

const std::string kLoading = "Loading fashion-mnist data\\.\\.\\. done\nLoading model\\.\\.\\. done\n";
const std::string kNew = "New Inference\n";
const std::string kMetric = "EvalMetric: \\{'accuracy': [01]\\.[0-9]+\\}\n";

using Words = std::vector<std::string>;

constexpr const char* kSemesters[] = {"fa17", "sp18", "fa18", "sp19", "fa19", "sp25"};

nlohmann::json json_of(const Words& arguments) {
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.status, 0) << run.complaint;
  return nlohmann::json::parse(run.output, nullptr, /*allow_exceptions=*/false);
}

/// Whether `convlab list WHAT` lists this name.
bool has(const std::string& what, const std::string& name) {
  const nlohmann::json list = json_of({"list", what, "--json", "-"});
  for (const auto& each : list[what]) {
    if (each["name"] == name) return true;
  }
  return false;
}

/// Returns a pattern for the output of a script that runs its own convolution, from the first Op Time: one line per
/// convolution. Fall 2017's network has one, the others two.
std::string answer(const std::string& semester, const std::string& model) {
  const std::string op_time = "Op Time: [0-9]+\\.[0-9]{6}\n";
  return op_time + (semester == "fa17" ? "" : op_time) + "Correctness: [01]\\.[0-9]+ Model: " + model + "\n";
}

void expect_exactly(const Words& arguments, const std::string& lines) {
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.complaint, IsEmpty());
  EXPECT_THAT(run.output, MatchesRegex(lines)) << testing::PrintToString(arguments);
}

TEST(CliCourse, TheOwnConvolutionOnTheCpuPrintsExactlyTheseLines) {
  for (const std::string semester : kSemesters) {
    const Words arguments{"m2.1", "10", "--semester", semester};
    if (semester == "fa17") {
      expect_exactly(arguments, kNew + kLoading + answer(semester, "ece408-high"));
    } else {
      expect_exactly(arguments, kLoading + kNew + answer(semester, "ece408"));
    }
  }
}

TEST(CliCourse, TheLibrarysConvolutionPrintsTheMetric) {
  for (const std::string semester : kSemesters) {
    const std::string lines = semester == "fa17" ? kNew + kLoading + kMetric : kLoading + kNew + kMetric;
    if (has("kernels", "onednn")) expect_exactly({"m1.1", "20", "--semester", semester}, lines);
    if (has("kernels", "cudnn") && has("devices", "cuda:0"))
      expect_exactly({"m1.2", "20", "--semester", semester}, lines);
  }
  if (!has("kernels", "onednn")) {
    const ProgramRun run = run_program({"m1.1", "20"});
    EXPECT_EQ(run.status, 3);
    EXPECT_THAT(run.complaint, HasSubstr("onednn"));
    GTEST_SKIP() << "this build has no oneDNN";
  }
}

TEST(CliCourse, ScriptsOfTheGpuPrintExactlyTheseLines) {
  if (!has("devices", "simt")) GTEST_SKIP() << "this build has no simt";
  for (const std::string semester : kSemesters) {
    for (const std::string script : {"m3.1", "m4.1", "final"}) {
      expect_exactly({script, "1", "--semester", semester, "--device", "simt"},
                     kLoading + kNew + answer(semester, semester == "fa17" ? "ece408-high" : "ece408"));
    }
  }
}

TEST(CliCourse, ScriptsOfFall2017TakeAModel) {
  const std::string low = answer("fa17", "ece408-low");
  expect_exactly({"m2.1", "ece408-low", "10", "--semester", "fa17"}, kNew + kLoading + low);
  EXPECT_EQ(run_program({"m4.1", "ece408-low", "1", "--semester", "fa17", "--device", "simt"}).status, 2);
  if (!has("devices", "simt")) GTEST_SKIP() << "this build has no simt";
  for (const std::string script : {"m3.1", "final"}) {
    expect_exactly({script, "ece408-low", "1", "--semester", "fa17", "--device", "simt"}, kLoading + kNew + low);
  }
}

/// Returns the kernels of a run's convolutions.
Words kernels_of(Words arguments) {
  arguments.insert(arguments.end(), {"--json", "-"});
  const nlohmann::json json = json_of(arguments);
  Words kernels;
  for (const auto& layer : json["layers"]) {
    if (layer["problem"] != "") kernels.push_back(layer["kernel"]);
  }
  return kernels;
}

/// Returns the fp32 rung with the shortest sum of Op Times of both layers for 10000 images, from the Records of an
/// H200.
std::string fastest_rung_recorded() {
  const auto records = nlohmann::json::parse(text_of(source_folder() / "results/nvidia-h200/fa19.json"));
  std::map<std::string, double> ms;
  std::map<std::string, int> layers;
  for (const auto& record : records) {
    const std::string kernel = record["kernel"];
    const bool rung = kernel.starts_with("cuda.") && record["rung"] < kProductionRung && record["math"] == "fp32";
    if (rung && record["problem"].get<std::string>().starts_with("n10000_")) {
      ms[kernel] += record["op_ms"]["median"].get<double>();
      ++layers[kernel];
    }
  }
  std::erase_if(ms, [&](const auto& entry) { return layers[entry.first] < 2; });  // drop kernels without both layers
  return std::ranges::min_element(ms, {}, [](const auto& entry) { return entry.second; })->first;
}

TEST(CliCourse, EachScriptRunsTheKernelOfItsChapter) {
  if (!has("devices", "simt")) GTEST_SKIP() << "this build has no simt";
  const auto kernels = [](const char* script) { return kernels_of({script, "1", "--device", "simt"}); };
  EXPECT_THAT(kernels("m3.1"), testing::Each("cuda.basic"));
  EXPECT_THAT(kernels("m4.1"), testing::Each(fastest_rung_recorded()));
  EXPECT_EQ(kernels("final"), kernels_of({"run", "-n", "1", "--plan", "layers", "--device", "simt"}));
  EXPECT_NE(kernels("final"), kernels("m4.1"));
}

TEST(CliCourse, TheKernelCanBeChosen) {
  EXPECT_THAT(kernels_of({"m2.1", "2", "--kernel", "cpu.im2col_gemm"}), testing::Each("cpu.im2col_gemm"));
  EXPECT_EQ(run_program({"m2.1", "2", "--kernel", "cuda.basic"}).status, 3);
  EXPECT_THAT(run_program({"m2.1", "2", "--kernel", "cpu.drect"}).complaint, HasSubstr("cpu.direct"));
  if (!has("devices", "simt")) GTEST_SKIP() << "this build has no simt";
  for (const std::string script : {"m3.1", "m4.1", "final"}) {
    EXPECT_THAT(kernels_of({script, "1", "--device", "simt", "--kernel", "cuda.tensor_core_fp16"}),
                testing::Each("cuda.tensor_core_fp16"));
  }
}

TEST(CliCourse, ImagesAreClamped) {
  const ProgramRun none = run_program({"m2.1", "0", "--semester", "fa17"});
  EXPECT_EQ(none.status, 0) << none.complaint;
  EXPECT_THAT(none.output, HasSubstr("\nCorrectness: 1.0 "));  // the one image is an ankle boot, classified right
  const auto json = json_of({"m2.1", "ece408-low", "20000", "--semester", "fa17", "--json", "-"});
  EXPECT_EQ(json["images"], 10000);
  EXPECT_EQ(json["plan"], "layers");
}

TEST(CliCourse, WithoutAGpuItsScriptsRunOnSimt) {
  if (has("devices", "cuda:0")) GTEST_SKIP() << "there is a GPU";
  if (!has("devices", "simt")) GTEST_SKIP() << "this build has no simt";
  for (const char* script : {"m3.1", "m4.1", "final"}) {
    const ProgramRun run = run_program({script, "1"});
    EXPECT_EQ(run.status, 0) << script << ": " << run.complaint;
    EXPECT_THAT(run.output, HasSubstr("\nCorrectness: 1.0 ")) << script;
    EXPECT_THAT(run.complaint, AllOf(HasSubstr("no GPU"), HasSubstr("--device simt"))) << script;
  }
  EXPECT_EQ(json_of({"m3.1", "--json", "-"})["images"], 10);
}

TEST(CliCourse, WithoutAGpuItsScriptsSayWhatToType) {
  if (has("devices", "cuda:0")) GTEST_SKIP() << "there is a GPU";
  const std::map<std::string, std::string> instead{{"m3.1", "'convlab m3.1 10 --device simt'"},
                                                   {"m4.1", "'convlab m4.1 10 --device simt'"},
                                                   {"final", "'convlab final 10 --device simt'"}};
  for (const auto& [script, command] : instead) {
    const ProgramRun run = run_program({script, "10", "--device", "cuda"});
    EXPECT_EQ(run.status, 3) << script;
    EXPECT_THAT(run.output, IsEmpty());
    EXPECT_THAT(run.complaint, AllOf(HasSubstr("CUDA"), EndsWith(command + "\n"))) << script;
  }
  const ProgramRun library = run_program({"m1.2"});
  EXPECT_EQ(library.status, 3);
  EXPECT_THAT(library.complaint, AllOf(HasSubstr("CUDA"), EndsWith("'convlab m1.1 10'\n")));
  EXPECT_EQ(run_program({"m1.2", "10", "--device", "cuda"}).status, 2);
  const ProgramRun cpu = run_program({"final", "10", "--device", "cpu"});
  EXPECT_EQ(cpu.status, 2);
  EXPECT_THAT(cpu.complaint, AllOf(HasSubstr("--device cpu"), HasSubstr("simt")));
  EXPECT_EQ(run_program({"run", "-n", "1", "--device", "cuda"}).status, 3);
  EXPECT_EQ(run_program({"run", "-n", "1", "--device", "cuda:1"}).status, 3);
}

}  // namespace
}  // namespace convlab
