// Tests convlab bench from the command line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "tests/support/onnx_model.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"

namespace convlab {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::filesystem::path& file) {
  const std::vector<uint8_t> bytes = read_file(file);
  return {bytes.begin(), bytes.end()};
}

ProgramRun bench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "bench");
  for (const char* more : {"--seconds", "0.02"}) arguments.emplace_back(more);
  return run_program(arguments);
}

TEST(CliBench, WritesARecordForEachKernelAndProblem) {
  const ProgramRun run =
      bench({"--device", "cpu", "--kernel", "cpu.direct", "--problem", "c3h12w12_k4r3s3", "-n", "1,3", "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const json records = json::parse(run.output);
  std::vector<std::string> problems;
  for (const json& record : records) {
    EXPECT_GT(record["hot_ms"]["median"], 0);
    EXPECT_GE(record["hot_ms"]["median"], record["hot_ms"]["min"]);
    EXPECT_FALSE(record["cold_ms"]["samples"].empty());
    EXPECT_GT(record["gflops"], 0);
    EXPECT_GT(record["bound_ms"], 0);
    if (record["kernel"] == "cpu.direct") problems.push_back(record["problem"]);
  }
  EXPECT_EQ(problems, (std::vector<std::string>{"c3h12w12_k4r3s3", "n3_c3h12w12_k4r3s3"}));
}

TEST(CliBench, TimesAnyOperator) {
  const ProgramRun run =
      bench({"--device", "cpu", "--kernel", "cpu.*", "--problem", "layernorm_r16c96", "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const json records = json::parse(run.output);
  ASSERT_EQ(records.size(), 1U) << "other kernels do not compute it";
  EXPECT_EQ(records[0]["kernel"], "cpu.normalize");
  EXPECT_EQ(records[0]["problem"], "layernorm_r16c96");
  EXPECT_GT(records[0]["gbps"], 0);
  const ProgramRun images = bench({"--device", "cpu", "--problem", "softmax_r4c9", "-n", "3"});
  EXPECT_EQ(images.status, 2);
  EXPECT_THAT(images.complaint, HasSubstr("-n: only for convolutions"));
}

TEST(CliBench, TimesAnOperatorInTheFormatThatItsKernelSupports) {
  const std::pair<const char*, const char*> cases[] = {
      {"cpu.scale", "scale_n2_c1h28w28_side33"},                            // uint8 to uint8
      {"cpu.nhwc_int8_reorder", "dequantizelinear_2x8x7x7_scalar_scalar"},  // nhwc4 to nchw
      {"cpu.nhwc_int8_conv", "byteconv_n2_c8h7w7_k16r1s1_xzero128"}};       // nhwc4 to nhwc4
  for (const auto& [kernel, problem] : cases) {
    const ProgramRun run = bench({"--device", "cpu", "--kernel", kernel, "--problem", problem, "--json", "-"});
    ASSERT_EQ(run.status, 0) << run.complaint;
    const json records = json::parse(run.output);
    ASSERT_EQ(records.size(), 1U) << kernel;
    EXPECT_EQ(records[0]["math"], kernel == std::string("cpu.scale") ? "fp32" : "int8");
  }
}

TEST(CliBench, TimesWhatFollowsAConvolution) {
  const ProgramRun run = bench({"--device", "cpu", "--kernel", "cpu.direct", "--problem", "n2_c3h12w12_k4r3s3",
                                "--epilogue", "bias+max2x2/2+relu", "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const json records = json::parse(run.output);
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records[0]["kernel"], "cpu.direct");
  EXPECT_EQ(records[0]["epilogue"], "bias+max2x2/2+relu");
  const ProgramRun wrong = bench({"--device", "cpu", "--problem", "n2_c3h12w12_k4r3s3", "--epilogue", "relu+bias"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.complaint, HasSubstr("--epilogue: unexpected 'bias'"));
  const ProgramRun nothing = bench({"--device", "cpu", "--problem", "n2_c3h3w3_k4r3s3", "--epilogue", "max2x2/2"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_THAT(nothing.complaint, HasSubstr("pooling window is larger than the 1x1 output of n2_c3h3w3_k4r3s3"));
}

TEST(CliBench, TakesTheConvolutionsOfAModel) {
  const ProgramRun run = bench({"--device", "cpu", "--kernel", "cpu.direct", "--model", "sp18", "-n", "2"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("n2_c1h64w64_k6r5s5"));
  EXPECT_THAT(run.output, HasSubstr("n2_c6h30w30_k16r5s5"));
}

TEST(CliBench, TheOracleIsTimedOnlyWhenNamed) {
  const auto timed = [](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"--device", "cpu", "--math", "fp32", "--problem", "n2_c3h12w12_k4r3s3"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const ProgramRun run = bench(all);
    EXPECT_EQ(run.status, 0) << run.complaint;
    return run.output;
  };
  const std::string by_default = timed({});
  EXPECT_THAT(by_default, HasSubstr("cpu.direct"));
  EXPECT_THAT(by_default, Not(HasSubstr("cpu.reference")));
  EXPECT_THAT(timed({"--kernel", "cpu.ref*"}), HasSubstr("cpu.reference"));
}

TEST(CliBench, ComparesTwoKernelsInterleaved) {
  const ProgramRun run = bench({"--device", "cpu", "--kernel", "cpu.direct", "--against", "cpu.reference", "--problem",
                                "n8_c4h24w24_k8r5s5", "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const json records = json::parse(run.output);
  ASSERT_EQ(records.size(), 2U);
  const json& against = records[0]["against"];
  EXPECT_EQ(against["kernel"], "cpu.reference");
  EXPECT_THAT(against["decision"], testing::AnyOf("FASTER", "UNDECIDED"));
  if (against["decision"] == "FASTER") {
    EXPECT_LT(against["high"], 1);
  } else {
    EXPECT_THAT(against["doubt"], testing::AnyOf(HasSubstr("busy"), HasSubstr("varies")));
  }
}

TEST(CliBench, BadInputIsNamed) {
  const auto expect = [](const std::vector<std::string>& arguments, int status, const char* place) {
    const ProgramRun run = bench(arguments);
    EXPECT_EQ(run.status, status) << run.complaint;
    EXPECT_THAT(run.complaint, HasSubstr(place));
  };
  expect({"--device", "cpu", "--kernel", "cuda.*"}, 2, "cuda.*");
  expect({"--device", "cpu", "--kernel", "cpu.dirct"}, 2, "cpu.direct");
  expect({"--problem", "n1_c1"}, 2, "n1_c1");
  expect({"--problem", "c3h12w12_k4r3s3", "--model", "fa19"}, 2, "--model");
  expect({"-n", "1,none"}, 2, "none");
  expect({"-n", "0"}, 2, "0");
  expect({"--math", "fp64"}, 2, "fp64");
  expect({"--device", "cpu", "--math", "tf32"}, 2, "tf32");
  expect({"--device", "cpu", "--sweep", "--against", "cpu.direct"}, 2, "--against");
  expect({"--device", "cpu", "--against", "cuda.basic"}, 3, "cuda.basic");
}

TEST(CliBench, AModelOfASingleNumberHasNoConvolution) {
  const TemporaryFolder folder;
  OnnxModel model(13);
  model.input("x", {}).output("y").node("Relu", {"x"}, {"y"});
  const std::string path = (folder.path() / "scalar.onnx").string();
  write_file(path, model.bytes());
  const ProgramRun run = bench({"--device", "cpu", "--model", path});
  EXPECT_EQ(run.status, 2) << run.complaint;
  EXPECT_THAT(run.complaint, HasSubstr("no convolution"));
}

// Covers every layout, unsupported kernels and the vendor library: each kernel has its line and is timed if it can be.
TEST(CliBench, TimesEveryKernelOrSaysWhyNot) {
  const ProgramRun run = bench({"--device", "cpu", "--kernel", "cpu.*", "--problem", "n20_c12h12w12_k24r3s3"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("layout: nchw16n"));
  EXPECT_THAT(run.output, Not(HasSubstr("SKIPPED: input and output must be"))) << "each knows its own format";
  EXPECT_THAT(run.output, AllOf(HasSubstr("hot: launches back to back"),
                                HasSubstr("\nconvolutions: n batch size (1 if omitted); c, h, w input channels")));
  EXPECT_THAT(run.output, Not(HasSubstr("inf")));
  EXPECT_THAT(run.output, Not(HasSubstr("times as fast")));
  for (const char* kernel : {"cpu.reference", "cpu.direct", "cpu.nchw16n_direct", "cpu.nchw16n_winograd"}) {
    EXPECT_THAT(run.output, HasSubstr(std::string("\n") + kernel));
  }
}

TEST(CliBench, WhatCannotBeTimedIsSkippedAndTheSessionGoesOn) {
  const TemporaryFolder folder;
  const std::string shapes = (folder.path() / "shapes.txt").string(), kept = (folder.path() / "kept.json").string();
  // The first problem needs more memory than any machine has.
  write_file(shapes, "n1000000000_c1h40w40_k1r3s3\nn2_c3h9w9_k4r3s3\n");
  const ProgramRun run = bench({"--device", "cpu", "--kernel", "cpu.im2col_gemm", "--shapes", shapes, "--json", kept});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("SKIPPED"));
  bool timed = false;
  for (const json& record : json::parse(text_of(kept))) timed |= record["problem"] == "n2_c3h9w9_k4r3s3";
  EXPECT_TRUE(timed);
}

/// Sends SIGINT once the file exists. Returns the program's wait status.
int interrupted(std::vector<std::string> arguments, const std::filesystem::path& file) {
  arguments.insert(arguments.begin(), convlab_program());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::freopen("/dev/null", "w", stdout) == nullptr) ::_exit(126);
    ::signal(SIGINT, SIG_DFL);  // shells make background processes ignore it
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  while (!std::filesystem::exists(file)) {
    if (::waitpid(child, &status, WNOHANG) != 0) return status;  // it ended before the signal
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ::kill(child, SIGINT);
  ::waitpid(child, &status, 0);
  return status;
}

TEST(CliBench, CtrlCKeepsWhatThereIs) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "kept.json";
  const int status = interrupted(
      {"bench", "--device", "cpu", "--kernel", "cpu.direct", "--problem", "c3h12w12_k4r3s3", "-n", "1,2,3,4,5,6,7,8",
       "--seconds", "0.5", "--spread", "0.0001", "--samples", "200", "--json", file.string()},
      file);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  const json records = json::parse(text_of(file));
  EXPECT_GE(records.size(), 1U);
  EXPECT_EQ(records[0]["kernel"], "cpu.direct");
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
  EXPECT_EQ(files, 1U) << "nothing half-written is left";
}

#if CONVLAB_SIMT
TEST(CliBench, SweepsTunables) {
  const ProgramRun run = bench(
      {"--device", "simt", "--kernel", "cuda.coarsened", "--problem", "n2_c3h9w9_k4r3s3", "--sweep", "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const json records = json::parse(run.output);
  EXPECT_GT(records.size(), 1U);
  for (size_t i = 0; i < records.size(); ++i) {
    EXPECT_FALSE(records[i]["tuning"].empty());
    if (i == 0) continue;
    EXPECT_GE(records[i]["hot_ms"]["median"], records[i - 1]["hot_ms"]["median"]) << "best first";
  }
}
#endif

}  // namespace
}  // namespace convlab
