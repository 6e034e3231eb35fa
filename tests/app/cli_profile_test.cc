// Tests `convlab profile` on the real data: its output, its files and its error messages.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/onnx_model.h"
#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Json = nlohmann::json;

std::string profile(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"profile", "sp19", "-n", "100", "--device", "cpu"});
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.complaint, IsEmpty());
  return run.output;
}

TEST(CliProfile, PrintsTablesListsOverheadAndBill) {
  const std::string text = profile({});
  EXPECT_THAT(text,
              ContainsRegex("^==[0-9]+== NVPROF is profiling process [0-9]+, command: convlab run sp19 --images 100 "
                            "--device cpu\n"));
  EXPECT_THAT(text, HasSubstr("New Inference\nCorrectness: 0."));
  EXPECT_THAT(text, HasSubstr("            Type  Time(%)      Time     Calls       Avg       Min       Max  Name\n"));
  EXPECT_THAT(text, ContainsRegex("\n CPU activities: +[0-9.]+%  [0-9.]+[mun]?s +[0-9]+ .*  cpu\\."));
  EXPECT_THAT(text, ContainsRegex("\n     Host calls: +[0-9.]+%  [0-9.]+[mun]?s +[0-9]+ "));
  EXPECT_THAT(text, ContainsRegex("Kernels that together take more than 90 %.*\n +[0-9.]+%.*\n +for .*conv"));
  EXPECT_THAT(text, HasSubstr("Host calls that together take more than 90 %"));
  EXPECT_THAT(text, HasSubstr("A kernel is the code that computes a step of the network, on all threads of the CPU."));
  EXPECT_THAT(text, Not(HasSubstr("GPU")));
  EXPECT_THAT(text, ContainsRegex("Profiling made the network -?[0-9.]+ % slower"));
  EXPECT_THAT(text, ContainsRegex(" 100\\.0 %  wall time of the run\nLargest: .*\n$"));
}

TEST(CliProfile, JsonHoldsWhatIsPrinted) {
  const Json json = Json::parse(profile({"--json", "-", "--repeat", "2"}));
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["images"], 100);
  EXPECT_GT(json["accuracy"], 0.7);
  EXPECT_THAT(json["command"].get<std::string>(), StartsWith("convlab run sp19 --images 100"));

  double kernels_s = 0, share = 0;
  std::set<std::string> layers;
  for (const Json& row : json["summary"]["activities"]) {
    kernels_s += row["time_s"].get<double>();
    share += row["share"].get<double>();
    EXPECT_LE(row["min_s"], row["max_s"]);
    double parts_s = 0;
    for (const Json& part : row["parts"]) {
      parts_s += part["time_s"].get<double>();
      layers.insert(part["name"].get<std::string>());
    }
    EXPECT_NEAR(parts_s, row["time_s"].get<double>(), 1e-9);
  }
  EXPECT_NEAR(share, 1, 1e-9);
  EXPECT_GT(kernels_s, 0);
  EXPECT_LT(kernels_s, json["recorded_s"]);
  EXPECT_GE(layers.size(), 4u);
  EXPECT_FALSE(json["summary"]["top_activities"].empty());
  EXPECT_FALSE(json["summary"]["top_calls"].empty());
  double trace_s = 0;
  for (const Json& row : json["trace"]) trace_s += row["duration_s"].get<double>();
  EXPECT_NEAR(trace_s, kernels_s, 1e-9);

  EXPECT_GT(json["profiling"]["plain_s"], 0);
  EXPECT_TRUE(json["profiling"].contains("overhead"));
}

TEST(CliProfile, PartsOfTheBillAreTheWallTime) {
  // On a busy machine the process may lose the CPU between two parts, but not in every attempt.
  constexpr int kTries = 5;
  double least_share = 1;
  for (int i = 0; i < kTries && least_share > 0.03; ++i) {
    const Json bill = Json::parse(profile({"--json", "-"}))["startup"];
    const double wall = bill["wall_s"];
    EXPECT_GT(wall, 0.01);
    double sum = 0;
    for (const Json& part : bill["parts"]) {
      EXPECT_GE(part["s"].get<double>(), 0) << part;
      sum += part["s"].get<double>();
    }
    EXPECT_LE(sum, wall * (1 + 1e-9));
    EXPECT_NEAR(sum + bill["unattributed_s"].get<double>(), wall, 1e-9);
    least_share = std::min(least_share, (wall - sum) / wall);
  }
  EXPECT_LE(least_share, 0.03);
}

TEST(CliProfile, CsvIsTheTableAlone) {
  const std::string text = profile({"--csv"});
  EXPECT_THAT(text, ContainsRegex("^==[0-9]+== Profiling application: .*\n==[0-9]+== Profiling result:\n\"Type\","));
  const std::regex row("\"(CPU activities|Host calls)\",[0-9.]+,[0-9.]+,[0-9]+,[0-9.]+,[0-9.]+,[0-9.]+,\"[^\"]+\"");
  std::istringstream lines(text);
  std::string line;
  for (int i = 0; i < 4; ++i) std::getline(lines, line);
  EXPECT_EQ(line, ",%,ms,,ms,ms,ms,");
  int rows = 0;
  for (; std::getline(lines, line); ++rows) EXPECT_TRUE(std::regex_match(line, row)) << line;
  EXPECT_GT(rows, 5);
}

TEST(CliProfile, GpuTraceHasALineALaunch) {
  const std::string text = profile({"--gpu-trace"});
  EXPECT_THAT(text, HasSubstr("   Start  Duration            Grid Size      Block Size"));
  EXPECT_THAT(text, ContainsRegex("\n *[0-9.]+ms +[0-9.]+[mu]s +- .* cpu\\.softmax \\[[0-9]+\\]\n"));
  EXPECT_THAT(text, testing::Not(HasSubstr("Time(%)")));
  EXPECT_THAT(profile({"--gpu-trace", "--csv"}), HasSubstr("\"Start\",\"Duration\",\"Grid X\""));
}

TEST(CliProfile, SimtHasCopiesToo) {
  const ProgramRun run = run_program({"profile", "fa17-low", "-n", "1", "--device", "simt", "--gpu-trace", "--csv"});
  if (run.status == 3) GTEST_SKIP() << run.complaint;
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("784,"));  // bytes of one image
  EXPECT_THAT(run.output, HasSubstr("\"Pageable\",\"Device\",\"simt\",0,0,\"[CUDA memcpy HtoD]\""));
  EXPECT_THAT(run.output, HasSubstr("\"Device\",\"Pageable\",\"simt\",0,0,\"[CUDA memcpy DtoH]\""));
}

TEST(CliProfile, CountersAreAGpus) {
  EXPECT_THAT(profile({"--counters"}), HasSubstr("GPU counters:\nno counters: counters need a GPU"));
  const Json json = Json::parse(profile({"--counters", "--json", "-"}));
  EXPECT_TRUE(json["utilisation"]["kernels"].empty());
  EXPECT_FALSE(json["utilisation"]["refusal"].get<std::string>().empty());
}

TEST(CliProfile, TraceIsAnArrayOfEvents) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  profile({"--trace", path, "--csv"});
  std::ifstream file(path);
  const Json trace = Json::parse(file);
  ASSERT_TRUE(trace.is_array());
  std::set<std::string> categories;
  for (const Json& event : trace) {
    EXPECT_TRUE(event.contains("ph") && event.contains("pid") && event.contains("tid") && event.contains("name"));
    if (event["ph"] != "X") continue;
    categories.insert(event["cat"].get<std::string>());
    EXPECT_GE(event["ts"].get<double>(), 0);
    EXPECT_GE(event["dur"].get<double>(), 0);
  }
  EXPECT_THAT(categories, testing::UnorderedElementsAre("kernel", "api", "layer"));
}

TEST(CliProfile, AParentMayIgnoreTheEndOfItsChildren) {
  const TemporaryFolder folder;
  const std::string out = (folder.path() / "out").string();
  const std::string command =
      "trap '' CHLD; exec '" + convlab_program().string() + "' profile fa17-low -n 10 --device cpu >'" + out + "' 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::stringstream text;
  text << std::ifstream(out).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("wall time of the run"));
}

TEST(CliProfile, ImagesAreScaledBeforePassesAreTimed) {
  // This network uses one pixel of each image, so scaling takes far longer than inference.
  constexpr int64_t kSide = 400;
  OnnxModel model(13);
  model.input("x", {-1, 1, -1, -1}).output("y");
  model.initializer("w", OnnxModel::ones({10, 1, 1, 1}));
  model.node("Conv", {"x", "w"}, {"c"}).list("strides", {kSide, kSide});
  model.node("Flatten", {"c"}, {"y"});
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "one_pixel.onnx").string();
  write_file(path, model.bytes());
  const ProgramRun run =
      run_program({"profile", path, "-n", "500", "--size", std::to_string(kSide), "--device", "cpu", "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const Json json = Json::parse(run.output);
  double scaling_s = 0;
  for (const Json& row : json["summary"]["calls"]) {
    if (row["name"] == "scaling the images") scaling_s = row["max_s"];
  }
  EXPECT_GT(scaling_s, 0.01) << "80 MB of pixels";
  EXPECT_LT(json["profiling"]["plain_s"].get<double>(), scaling_s / 2);
  EXPECT_LT(json["profiling"]["profiled_s"].get<double>(), scaling_s / 2);
}

TEST(CliProfile, FailsAsTheRunWould) {
  const auto expect_failure = [](const std::vector<std::string>& arguments, int status, const std::string& words) {
    const ProgramRun run = run_program(arguments);
    EXPECT_EQ(run.status, status) << testing::PrintToString(arguments);
    EXPECT_THAT(run.output, IsEmpty());
    EXPECT_THAT(run.complaint, StartsWith("convlab: error: "));
    EXPECT_THAT(run.complaint, HasSubstr(words));
  };
  expect_failure({"profile", "fa91"}, 2, "fa19");
  expect_failure({"profile", "fa91", "--csv"}, 2, "fa19");
  expect_failure({"profile", "--kernel", "cpu.refrence", "-n", "1"}, 2, "cpu.reference");
  expect_failure({"profile", "--data", "/nowhere"}, 2, "/nowhere");
  expect_failure({"profile", "-n", "0"}, 2, "--images");
  expect_failure({"profile", "--trace", "/no/such/folder/t.json"}, 2, "--trace");
  expect_failure({"profile", "--trace", "/no/such/folder/t.json", "--gpu-trase"}, 2, "--gpu-trace");
  if (run_program({"run", "-n", "1", "--device", "cuda"}).status == 0) GTEST_SKIP() << "there is a GPU";
  expect_failure({"profile", "-n", "1", "--device", "cuda"}, 3, "CUDA");
  expect_failure({"profile", "-n", "1", "--device", "cuda", "--csv"}, 3, "GPU");
}

}  // namespace
}  // namespace convlab
