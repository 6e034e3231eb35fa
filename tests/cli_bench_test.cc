// convlab bench as its users call it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/onnx_model.h"
#include "tests/program.h"

namespace convlab {
namespace {

using nlohmann::json;
using testing::HasSubstr;

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

TEST(CliBench, TakesTheConvolutionsOfAModel) {
  const ProgramRun run = bench({"--device", "cpu", "--kernel", "cpu.direct", "--model", "sp18", "-n", "2"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("n2_c1h64w64_k6r5s5"));
  EXPECT_THAT(run.output, HasSubstr("n2_c6h30w30_k16r5s5"));
}

TEST(CliBench, ComparesTwoKernelsInTurns) {
  const ProgramRun run = bench({"--device", "cpu", "--kernel", "cpu.direct", "--against", "cpu.reference", "--problem",
                                "n8_c4h24w24_k8r5s5", "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const json records = json::parse(run.output);
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0]["against"]["decision"], "FASTER");
  EXPECT_LT(records[0]["against"]["high"], 1);
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
