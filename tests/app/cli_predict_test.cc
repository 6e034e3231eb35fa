// Tests convlab predict: the expected gain of an optimization before it is measured, and messages for bad input.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kProblem = "n10000_c3h20w20_k4r3s3";
const std::string kRecords = source_folder() / "results/nvidia-h200/fa19.json";

bool simt_is_there() { return run_program({"verify", "--device", "simt", "--problem", "c1h4w4_k1r1s1"}).status != 3; }

#define SKIP_WITHOUT_SIMT() \
  if (!simt_is_there()) GTEST_SKIP() << "this build has no simt"

ProgramRun predict(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "predict");
  arguments.insert(arguments.end(), {"--machine", kRecords, "--device", "simt"});
  return run_program(std::move(arguments));
}

std::string written(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  const std::string path = (folder.path() / name).string();
  std::ofstream(path) << text;
  return path;
}

TEST(Predict, SaysWhatAStepShouldDoAndWhy) {
  SKIP_WITHOUT_SIMT();
  const ProgramRun run = predict({"cuda.restrict_unroll", "--from", "cuda.basic", "--problem", kProblem});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr(std::string(kProblem) + ": cuda.restrict_unroll should take 0."));
  EXPECT_THAT(run.output, HasSubstr("times as long as cuda.basic"));
  EXPECT_THAT(run.output, HasSubstr("limited by instruction issue"));
  EXPECT_THAT(run.output, HasSubstr("on NVIDIA H200; counted for 2 images on simt, scaled by 5000"));
  for (const char* quantity : {"global memory sectors", "warp instructions", "flops", "warps per multiprocessor"}) {
    EXPECT_THAT(run.output, HasSubstr(quantity));
  }
  EXPECT_THAT(run.output, HasSubstr("cuda.basic: convolve_basic: instruction issue"));
}

TEST(Predict, JsonHasTheArithmetic) {
  SKIP_WITHOUT_SIMT();
  const ProgramRun run = predict({"cuda.unroll_gemm", "--from", "cuda.basic", "--problem", kProblem, "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const Json step = Json::parse(run.output)["predictions"][0];
  EXPECT_EQ(step["kernel"], "cuda.unroll_gemm");
  EXPECT_EQ(step["from"], "cuda.basic");
  EXPECT_EQ(step["problem"], kProblem);
  EXPECT_DOUBLE_EQ(step["ratio"].get<double>(), step["ms"].get<double>() / step["from_ms"].get<double>());
  // Two functions run one after the other. Each takes as long as its slowest resource.
  ASSERT_EQ(step["after"]["functions"].size(), 2u);
  double sum = 0;
  for (const Json& function : step["after"]["functions"]) {
    double slowest = 0;
    for (const Json& resource : function["resources"]) {
      const double ms = resource["ms"].get<double>();
      EXPECT_NEAR(ms, resource["count"].get<double>() / resource["rate"].get<double>() * 1e3, 1e-9 * ms);
      slowest = std::max(slowest, ms);
    }
    sum += slowest;
  }
  EXPECT_DOUBLE_EQ(step["ms"].get<double>(), sum);
  // 10000 images with 4 output channels of 18 x 18, one store each, in requests of up to 32 lanes.
  EXPECT_GT(step["before"]["functions"][0]["global_requests"].get<double>(), 10000.0 * 4 * 18 * 18 / 32);
}

TEST(Predict, PredictsAKernelOfAnotherOperatorAlone) {
  SKIP_WITHOUT_SIMT();
  const ProgramRun run = predict({"--kernel", "cuda.softmax", "--problem", "softmax_r256c33"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, StartsWith("softmax_r256c33: cuda.softmax should take 0.0"));
  EXPECT_THAT(run.output, HasSubstr("on NVIDIA H200; counted on simt\n"));
  EXPECT_THAT(run.output, HasSubstr("cuda.softmax: normalize_rows: "));
  const ProgramRun of_json = predict({"cuda.softmax", "--problem", "softmax_r256c33", "--json", "-"});
  ASSERT_EQ(of_json.status, 0) << of_json.complaint;
  const Json prediction = Json::parse(of_json.output)["predictions"][0];
  EXPECT_EQ(prediction["kernel"], "cuda.softmax");
  EXPECT_EQ(prediction["problem"], "softmax_r256c33");
  EXPECT_FALSE(prediction.contains("from"));
  EXPECT_FALSE(prediction.contains("counted_images"));
  // Each element is loaded three times and stored once, in requests of 32 lanes.
  EXPECT_EQ(prediction["after"]["functions"][0]["global_requests"], 4 * 256 * 33 / 32);
}

TEST(Predict, ComparesKernelsThatMatch) {
  SKIP_WITHOUT_SIMT();
  const TemporaryFolder folder;
  const std::string shapes = written(folder, "shapes.txt", "maxpool_n64_c64h28w28_r2s2_st2\nsoftmax_r4c5\n");
  const std::string json = (folder.path() / "predictions.json").string();
  const ProgramRun run = predict({"--kernel", "cuda.*pool*", "--shapes", shapes, "--json", json});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, StartsWith("maxpool_n64_c64h28w28_r2s2_st2 on NVIDIA H200; counted for 2 images on simt"));
  EXPECT_THAT(run.output, HasSubstr("softmax_r4c5: no matching kernel supports it\n"));
  std::ifstream file(json);
  std::map<std::string, double> ms;  // two kernels of one file, with different elements, and one of another
  const Json all = Json::parse(file);
  for (const Json& prediction : all["predictions"]) {
    ms[prediction["kernel"]] = prediction["ms"];
    EXPECT_EQ(prediction["counted_images"], 2);
  }
  EXPECT_EQ(ms.size(), 3u);
  EXPECT_LT(ms["cuda.nhwc_pool"], ms["cuda.nhwc_pool_fp32"]);
  EXPECT_LT(run.output.find("cuda.nhwc_pool "), run.output.find("cuda.nhwc_pool_fp32 ")) << run.output;
}

TEST(Predict, TakesFilesAndPutsMeasurementsBeside) {
  SKIP_WITHOUT_SIMT();
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "mine.cuh").string();
  ASSERT_EQ(run_program({"new", "mxnet", "-o", file}).status, 0);
  std::ifstream records(kRecords);
  Json measured = Json::array();
  for (Json record : Json::parse(records)) {
    if (record["kernel"] != "cuda.basic" || record["problem"] != "n100_c1h70w70_k12r5s5") continue;
    measured.push_back(record);
    record["kernel"] = file;
    record["hot_ms"]["median"] = 3 * record["hot_ms"]["median"].get<double>();
    measured.push_back(record);
  }
  ASSERT_EQ(measured.size(), 2u);
  const std::string times = written(folder, "times.json", measured.dump());
  const ProgramRun run = predict(
      {file, "--from", "cuda.basic", "--problem", "n100_c1h70w70_k12r5s5", "--measured", times, "--counted", "1"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("counted for 1 image on simt, scaled by 100"));
  EXPECT_THAT(run.output, HasSubstr("second / first"));
  EXPECT_THAT(run.output, HasSubstr("Measured: slower"));
  EXPECT_THAT(run.output, HasSubstr("Largest error:"));
}

TEST(Predict, ComplainsAboutKernels) {
  EXPECT_THAT(predict({"--from", "cuda.basic"}).complaint, HasSubstr("KERNEL or --kernel is required"));
  EXPECT_THAT(predict({"cuda.basic", "--from", "cuda.basic"}).complaint, HasSubstr("must differ from KERNEL"));
  SKIP_WITHOUT_SIMT();
  const ProgramRun cpu = predict({"cpu.direct", "--from", "cuda.basic"});
  EXPECT_EQ(cpu.status, 3);
  EXPECT_THAT(cpu.complaint, HasSubstr("cpu.direct runs on cpu"));
  const ProgramRun unknown = predict({"cuda.basic", "--from", "cuda.basik"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.complaint, HasSubstr("did you mean cuda.basic?"));
  EXPECT_EQ(predict({"nowhere.cu", "--from", "cuda.basic"}).status, 2);

  const TemporaryFolder folder;
  const std::string host = written(
      folder, "host.cc",
      "void convolve(const float* x, const float* w, float* y, int n, int c, int h, int wd, int k, int r) {}\n");
  const ProgramRun of_cpu = predict({host, "--from", "cuda.basic"});
  EXPECT_EQ(of_cpu.status, 2);
  EXPECT_THAT(of_cpu.complaint, HasSubstr("the file is for CPUs"));

  const std::string file = (folder.path() / "broken.cuh").string();
  ASSERT_EQ(run_program({"new", "mxnet", "-o", file}).status, 0);
  std::ofstream(file, std::ios::app) << "\nint broken() { return nothing; }\n";
  const ProgramRun broken = predict({file, "--from", "cuda.basic"});
  EXPECT_EQ(broken.status, 2);
  EXPECT_THAT(broken.complaint, AllOf(StartsWith(file + ":"), HasSubstr(": error: "), HasSubstr("nothing")));
}

TEST(Predict, ComplainsAboutProblemsThatDoNotFit) {
  EXPECT_EQ(predict({"cuda.shared_tile", "--from", "cuda.basic", "--problem", "nonsense"}).status, 2);
  SKIP_WITHOUT_SIMT();
  const ProgramRun run = predict({"cuda.restrict_unroll", "--from", "cuda.basic", "--problem", "n2_c3h20w20_k4r2s2"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("cuda.restrict_unroll: n2_c3h20w20_k4r2s2: filter must be 1x1, 3x3"));
  EXPECT_THAT(predict({"cuda.softmax", "--problem", "maxpool_c8h8w8_r2s2"}).complaint,
              HasSubstr("cuda.softmax: maxpool_c8h8w8_r2s2: only Softmax is supported"));
  EXPECT_THAT(predict({"cuda.softmax", "--problem", "softmax_r4c5", "-n", "3"}).complaint,
              HasSubstr("-n: only for convolutions, got softmax_r4c5"));
}

TEST(Predict, ComplainsAboutMachines) {
  const TemporaryFolder folder;
  const auto complaint = [&](const std::string& machine) {
    const ProgramRun run = run_program({"predict", "cuda.shared_tile", "--from", "cuda.basic", "--machine", machine});
    EXPECT_EQ(run.status, 2) << run.complaint;
    return run.complaint;
  };
  EXPECT_THAT(complaint((folder.path() / "nowhere.json").string()), HasSubstr("nowhere.json"));
  EXPECT_THAT(complaint(written(folder, "broken.json", "[{")), HasSubstr("broken.json"));
  EXPECT_THAT(complaint(written(folder, "empty.json", "[]")), HasSubstr("no Record of a GPU"));
  std::ifstream file(kRecords);
  Json records = Json::parse(file);
  records.erase(records.begin() + 1, records.end());
  records[0]["ceilings"]["memory_gbps"] = 0;
  EXPECT_THAT(complaint(written(folder, "none.json", records.dump())),
              HasSubstr("no arithmetic, memory and cache ceilings"));
  records[0]["ceilings"].erase("gflops");
  EXPECT_THAT(complaint(written(folder, "without.json", records.dump())), HasSubstr("gflops"));
}

}  // namespace
}  // namespace convlab
