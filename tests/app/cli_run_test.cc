// Tests `convlab run` on the real data: its output, its figures and its exit statuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

void expect_match(const std::string& text, const std::string& pattern) {
  EXPECT_TRUE(std::regex_match(text, std::regex(pattern))) << text;
}

const std::string kLoading = "Loading fashion-mnist data\\.\\.\\. done\nLoading model\\.\\.\\. done\n";
const std::string kOpTime = "Op Time: [0-9]+\\.[0-9]{6}\n";

TEST(CliRun, PrintsTheCoursesLinesThenTheLayersThenWhatItUsed) {
  const ProgramRun run = run_program({"run", "-n", "100", "--device", "cpu"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.complaint, IsEmpty());  // no progress output into a pipe
  expect_match(run.output, kLoading + "New Inference\n" + kOpTime + kOpTime +
                               "Correctness: 0\\.[0-9]+ Model: ece408\n"
                               "\nlayer +op +kernel +math +time \\(ms\\) +GFLOP/s +of bound\n([^\n]+ %\n)+"
                               "\\(an Op Time is the time of one convolution in seconds\\)\n"
                               "\n100 images to labels in [0-9.]+ ms on cpu [^\n]+\nbound: [^\n]+\n"
                               "[0-9.]+user [0-9.]+system [0-9]+:[0-9.]+elapsed [0-9]+%CPU \\(0avgtext\\+0avgdata "
                               "[0-9]+maxresident\\)k\n");
}

nlohmann::json json_of(const std::vector<std::string>& arguments) {
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.status, 0) << run.complaint;
  return nlohmann::json::parse(run.output);
}

TEST(CliRun, PixelsAreScaledBeforeTheNetwork) {
  const auto run = [](const std::string& pixels) {
    return json_of({"run", "fa19", "-n", "200", "--device", "cpu", "--scale-pixels", pixels, "--json", "-"});
  };
  const auto raw = run("0..255"), same = run("0/0.0039215686"), other = run("0..1");
  EXPECT_EQ(same["accuracy"], raw["accuracy"]) << "divided by 255, and multiplied";
  EXPECT_LT(other["accuracy"], raw["accuracy"]);
  EXPECT_GT(same["layers"].size(), raw["layers"].size());
  for (const char* wrong : {"0..2", "1", "1/0", "a/1", "1/2/3"}) {
    const ProgramRun refused = run_program({"run", "-n", "1", "--scale-pixels", wrong});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.complaint, HasSubstr("--scale-pixels"));
  }
}

TEST(CliRun, JsonHoldsEveryFigure) {
  const auto json =
      json_of({"run", "sp19", "-n", "50", "--repeat", "3", "--device", "cpu", "--threads", "1", "--json", "-"});
  EXPECT_EQ(json["model"], "sp19");
  EXPECT_EQ(json["images"], 50);
  EXPECT_GT(json["accuracy"], 0.7);
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["math"], "fp32");
  EXPECT_EQ(json["plan"], "fused");
  EXPECT_EQ(json["threads"], 1);
  EXPECT_GT(json["network_s"], 0);
  EXPECT_EQ(json["device_network_s"], json["network_s"]) << "a host's memory is the device's";
  EXPECT_GT(json["load_s"], 0);
  EXPECT_GT(json["total_s"].get<double>(), json["load_s"].get<double>() + json["network_s"].get<double>());
  EXPECT_GT(json["max_rss_kb"], 1000);
  double sum = 0;
  std::vector<std::string> problems;
  for (const auto& layer : json["layers"]) {
    EXPECT_FALSE(layer["name"].get<std::string>().empty());
    EXPECT_FALSE(layer["op"].get<std::string>().empty());
    EXPECT_THAT(layer["kernel"].get<std::string>(), StartsWith("cpu."));
    sum += layer["op_time_s"].get<double>();
    if (layer["problem"] != "") {
      problems.push_back(layer["problem"]);
      EXPECT_GT(layer["gflops"], 0);
    }
  }
  EXPECT_THAT(problems, testing::ElementsAre("n50_c1h48w48_k6r5s5", "n50_c6h22w22_k16r5s5"));
  EXPECT_GT(sum, 0);
}

TEST(CliRun, TheWayOfComputingDoesNotChangeTheAnswer) {
  const std::vector<std::string> run{"run", "sp18", "-n", "40", "--device", "cpu", "--json", "-"};
  const double expected = json_of(run)["accuracy"];
  const std::vector<std::vector<std::string>> ways{{"--plan", "layers"},
                                                   {"--plan", "folded"},
                                                   {"--kernel", "cpu.reference"},
                                                   {"--kernel", "cpu.im2col_gemm", "--plan", "layers"},
                                                   {"--scale", "device"},
                                                   {"--scale", "host", "--plan", "layers"},
                                                   {"--batch", "7"},
                                                   {"--threads", "3", "--batch", "1"}};
  for (std::vector<std::string> way : ways) {
    way.insert(way.begin(), run.begin(), run.end());
    const auto json = json_of(way);
    EXPECT_EQ(json["accuracy"], expected) << testing::PrintToString(way);
    if (way[run.size()] == "--kernel") {
      for (const auto& layer : json["layers"]) {
        if (layer["problem"] != "") {
          EXPECT_EQ(layer["kernel"], way[run.size() + 1]);
        }
      }
    }
  }
}

TEST(CliRun, ExpectedAccuracyDecidesTheExitStatus) {
  EXPECT_EQ(run_program({"run", "sp19", "-n", "100", "--expect", "0.7"}).status, 0);
  const TemporaryFolder folder;
  const std::string json = (folder.path() / "run.json").string();
  const ProgramRun wrong = run_program({"run", "fa17-low", "-n", "100", "--expect", "0.95", "--json", json});
  EXPECT_EQ(wrong.status, 1);
  EXPECT_THAT(wrong.output, HasSubstr("Model: ece408-low\n"));
  EXPECT_THAT(wrong.complaint, HasSubstr("below --expect 0.95"));
  EXPECT_TRUE(std::filesystem::exists(json));
}

TEST(CliRun, MoreImagesThanThereAreAreAllWithANote) {
  const ProgramRun run = run_program({"run", "fa17-low", "-n", "10001"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.complaint, HasSubstr("10000"));
  EXPECT_THAT(run.output, HasSubstr("\n10000 images to labels"));
}

TEST(CliRun, OneImageIsNotPlural) {
  EXPECT_THAT(run_program({"run", "fa17-low", "-n", "1", "--device", "cpu"}).output, HasSubstr("\n1 image to labels"));
}

TEST(CliRun, CopiesAreMoreOfTheSame) {
  const auto once = json_of({"run", "fa17-low", "-n", "20", "--device", "cpu", "--json", "-"});
  const auto thrice = json_of({"run", "fa17-low", "-n", "20", "--copies", "3", "--device", "cpu", "--json", "-"});
  EXPECT_EQ(thrice["images"], 60);
  EXPECT_EQ(thrice["accuracy"], once["accuracy"]);
  for (size_t i = 0; i < 60; ++i) EXPECT_EQ(thrice["labels"][i], once["labels"][i % 20]);
  EXPECT_THAT(run_program({"run", "fa17-low", "-n", "10001", "--copies", "2"}).complaint,
              HasSubstr("the data set has only 10000;"));
}

TEST(CliRun, TellsWhichDeviceHadWhichImages) {
  const auto json = json_of({"run", "fa17-low", "-n", "20", "--device", "cpu", "--json", "-"});
  ASSERT_EQ(json["devices"].size(), 1U);
  EXPECT_EQ(json["devices"][0]["name"], "cpu");
  EXPECT_EQ(json["devices"][0]["images"], 20);
}

TEST(CliRun, AllGpusFindTheLabelsOfOne) {
  const auto list = json_of({"list", "devices", "--json", "-"});
  std::set<std::string> names;
  for (const auto& device : list["devices"]) names.insert(device["name"].get<std::string>());
  EXPECT_EQ(names.contains("cuda:all"), names.contains("cuda:1"));
  if (!names.contains("cuda:0")) {
    EXPECT_EQ(run_program({"run", "-n", "1", "--device", "cuda:all"}).status, 3);
    GTEST_SKIP() << "there is no GPU";
  }
  const auto one = json_of({"run", "--device", "cuda:0", "--json", "-"});
  const auto all = json_of({"run", "--device", "cuda:all", "--json", "-"});
  EXPECT_EQ(all["labels"], one["labels"]);
  EXPECT_EQ(all["devices"].size(), std::ranges::count_if(names, [](const std::string& name) {
              return name.starts_with("cuda:") && name != "cuda:all";
            }));
  int64_t images = 0;
  for (const auto& device : all["devices"]) images += device["images"].get<int64_t>();
  EXPECT_EQ(images, 10000);
}

TEST(CliRun, AnotherSizeThanTheModelsIsAnError) {
  const ProgramRun run = run_program({"run", "fa19", "--size", "48"});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.output, IsEmpty());
  EXPECT_THAT(run.complaint, HasSubstr("70x70"));
}

TEST(CliRun, ArithmeticThatNoKernelOffersIsNotReplaced) {
  std::set<std::string> offered;
  const auto list = json_of({"list", "kernels", "--json", "-"});
  for (const auto& kernel : list["kernels"]) {
    if (kernel["device"] == "cpu") offered.insert(kernel["math"].get<std::string>());
  }
  EXPECT_TRUE(offered.contains("fp32"));
  for (const std::string math : {"fp32", "bf16", "fp16", "tf32", "bf16x2"}) {
    const ProgramRun run = run_program({"run", "fa17-low", "-n", "1", "--device", "cpu", "--math", math});
    EXPECT_EQ(run.status, offered.contains(math) ? 0 : 3) << run.complaint;
    if (!offered.contains(math)) {
      EXPECT_THAT(run.complaint, HasSubstr("in " + math));
    }
  }
}

}  // namespace
}  // namespace convlab
