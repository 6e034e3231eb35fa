// Tests the binary's command line: help, unknown commands and options, values out of range, output targets and exit
// statuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "convlab/base/process.h"
#include "tests/support/paths.h"
#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr const char* kCommands[] = {"list",  "run",   "m1.1",   "m1.2",  "m2.1",    "m3.1",   "m4.1",
                                     "final", "infer", "verify", "bench", "profile", "report", "convert"};

void expect_usage_error(const std::vector<std::string>& arguments, const std::vector<std::string>& places) {
  const ProgramRun run = run_program(arguments);
  EXPECT_EQ(run.status, 2) << testing::PrintToString(arguments) << run.complaint;
  EXPECT_THAT(run.output, IsEmpty());
  EXPECT_THAT(run.complaint, StartsWith("convlab: error: "));
  for (const std::string& place : places) EXPECT_THAT(run.complaint, HasSubstr(place));
}

TEST(CliUsage, HelpListsEveryCommandAndEachHasExamples) {
  const ProgramRun help = run_program({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.complaint, IsEmpty());
  for (const std::string command : kCommands) {
    EXPECT_THAT(help.output, HasSubstr("\n  " + command + " "));
    const ProgramRun of_command = run_program({command, "--help"});
    EXPECT_EQ(of_command.status, 0);
    EXPECT_THAT(of_command.output, HasSubstr("Usage: convlab " + command));
    EXPECT_THAT(of_command.output, HasSubstr("\nExamples:\n  convlab " + command));
    EXPECT_THAT(of_command.output, HasSubstr("--json"));
  }
}

TEST(CliUsage, HelpGroupsOptions) {
  const std::string help = run_program({"run", "--help"}).output;
  EXPECT_EQ(run_program({"help", "run"}).output, help);
  size_t last = 0;
  for (const char* text : {"\nOptions:\n", "  --device ", "\nImage preprocessing:\n", "  --size ", "\nMeasuring:\n",
                           "  --repeat ", "\nAdvanced:\n", "  --plan-file "}) {
    const size_t at = help.find(text);
    ASSERT_NE(at, std::string::npos) << text;
    EXPECT_GT(at, last) << text;
    last = at;
  }
}

TEST(CliUsage, ClassWithoutItsProgramSaysHowToBuildIt) {
  const TemporaryFolder folder;
  const std::filesystem::path alone = folder.path() / "convlab";
  std::filesystem::copy_file(convlab_program(), alone);
  const ProcessRun run = run_process(alone.string(), {"convlab", "class", "status", "DIR"});
  EXPECT_EQ(run.status, 3) << run.complaint;
  EXPECT_THAT(run.complaint, HasSubstr("ninja -C build/cpu convlab_class"));
  EXPECT_THAT(run_program({"--help"}).output, HasSubstr("\n  class "));
}

TEST(CliUsage, Version) {
  const ProgramRun run = run_program({"--version"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.output, testing::MatchesRegex("convlab [0-9]+\\.[0-9]+\\.[0-9]+\n"));
}

TEST(CliUsage, WhatIsUnknownIsNamedWithTheNearest) {
  expect_usage_error({}, {"no command", "--help"});
  expect_usage_error({"rnu"}, {"'rnu'", "'run'"});
  expect_usage_error({"--foo"}, {"--foo"});
  expect_usage_error({"run", "--imags", "5"}, {"--imags", "--images"});
  expect_usage_error({"run", "fa19", "sp18"}, {"sp18"});
  expect_usage_error({"run", "fa91"}, {"'fa91'", "fa19"});
  expect_usage_error({"run", "--kernel", "cpu.refrence", "-n", "1"}, {"cpu.refrence", "cpu.reference"});
  expect_usage_error({"run", "--device", "toaster"}, {"toaster"});
  expect_usage_error({"list", "kernals"}, {"kernals", "kernels"});
  expect_usage_error({"infer", "fa19"}, {"--input"});
  expect_usage_error({"convert"}, {"MODEL"});
}

TEST(CliUsage, ValuesAreWholeAndInRange) {
  for (const std::string value : {"-5", "0", "ten", "5x", "", "1.5", "99999999999999999999"}) {
    expect_usage_error({"run", "-n", value}, {"--images"});
    expect_usage_error({"run", "--threads", value}, {"--threads"});
    expect_usage_error({"run", "--batch", value}, {"--batch"});
    expect_usage_error({"run", "--repeat", value}, {"--repeat"});
    expect_usage_error({"run", "--size", value}, {"--size"});
    expect_usage_error({"run", "--copies", value}, {"--copies"});
  }
  expect_usage_error({"run", "--threads=0"}, {"--threads", "between 1 and 1024"});
  for (const std::string value : {"-0.1", "1.1", "nan", "inf", "x"}) {
    expect_usage_error({"run", "--expect", value}, {"--expect"});
  }
  expect_usage_error({"run", "--math", "fp31"}, {"--math", "fp32"});
  expect_usage_error({"run", "--plan", "wide"}, {"--plan", "fused"});
  expect_usage_error({"run", "--split", "both"}, {"--split"});
  expect_usage_error({"run", "--scale", "gpu"}, {"--scale", "host, device"});
  expect_usage_error({"run", "-n"}, {"--images"});
  expect_usage_error({"run", "-n", "1", "-n", "2"}, {"--images"});
  expect_usage_error({"m2.1", "-5"}, {"-5"});
  expect_usage_error({"m2.1", "ten"}, {"IMAGES", "ten"});
  expect_usage_error({"m2.1", "10", "20"}, {"too many"});
  expect_usage_error({"m2.1", "--semester", "fa16"}, {"--semester", "sp18, fa18", "the nearest is fa17"});
  expect_usage_error({"m2.1", "--semester", "sp20"}, {"the nearest are fa19, sp25"});
  expect_usage_error({"verify", "x.cu", "--semester", "fa20"}, {"fa20 used the network of sp25"});
  expect_usage_error({"report", "-o", "x.html", "--semester", "fall"}, {"must be one of fa17, ", "got 'fall'\n"});
  expect_usage_error({"m2.1", "--semester", "fa17", "ece408-mid", "10"}, {"ece408-mid", "ece408-low"});
}

TEST(CliUsage, DevicesHaveNames) {
  for (const std::vector<std::string>& each :
       {std::vector<std::string>{"explain", "fa19", "--device", "banana"}, {"verify", "x.cu", "--device", "banana"}}) {
    const ProgramRun run = run_program(each);
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.complaint, HasSubstr("device must be auto, cpu, cuda, cuda:N or simt, got 'banana'"));
  }
}

TEST(CliUsage, AllGpusAreForRunAlone) {
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"bench"}, {"verify"}, {"profile"}, {"infer", "fa19", "--input", "x.npy", "--output", "y.npy"}}) {
    std::vector<std::string> arguments = command;
    arguments.insert(arguments.end(), {"--device", "cuda:all"});
    expect_usage_error(arguments, {"device cuda:all", "for example cuda:0"});
  }
}

TEST(CliUsage, WhatIsNotThereIsExitStatusThree) {
  const ProgramRun run = run_program({"run", "-n", "1", "--device", "cpu", "--math", "fp16"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.output, IsEmpty());
  EXPECT_THAT(run.complaint, HasSubstr("fp16"));
}

TEST(CliUsage, AnUnwritableFileIsFoundBeforeTheWork) {
  const TemporaryFolder folder;
  for (const std::string& path : {std::string("/no/such/folder/out.json"), folder.path().string()}) {
    expect_usage_error({"list", "--json", path}, {"--json", path});
    expect_usage_error({"run", "-n", "1", "--json", path}, {"--json", path});
    expect_usage_error({"convert", "fa19", "-o", path}, {"-o", path});
  }
  const std::string nowhere = "/no/such/folder/y.npy";
  expect_usage_error({"infer", "fa19", "--input", "x.npy", "--output", nowhere}, {"--output", nowhere});
  expect_usage_error({"new", "mxnet", "-o", "/no/such/folder/x.cuh"},
                     {"cannot write /no/such/folder/x.cuh: No such file or directory"});
  const ProgramRun full = run_program({"list", "kernels", "--json", "/dev/full"});
  EXPECT_EQ(full.status, 2);
  EXPECT_THAT(full.complaint, HasSubstr("cannot write /dev/full: No space left"));
}

TEST(CliUsage, AFileNameOfAnotherFormatIsAnError) {
  const TemporaryFolder folder;
  const auto named = [&](const std::string& name) { return (folder.path() / name).string(); };
  expect_usage_error({"explain", "fa19", "-o", named("net.png")}, {"-o: expected a file name that ends in .svg, got "});
  expect_usage_error({"convert", "fa19", "-o", named("net.pb")}, {"-o: expected a file name that ends in .onnx, got "});
  expect_usage_error({"infer", "fa19", "--input", "x.npy", "--output", named("y.txt")},
                     {"--output: expected a file name that ends in .npy or .npz, got "});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CliUsage, JsonOnStandardOutputIsAlone) {
  const ProgramRun run = run_program({"list", "--json", "-"});
  EXPECT_EQ(run.status, 0);
  const auto json = nlohmann::json::parse(run.output);
  EXPECT_EQ(json["kernels"][0]["name"], "cpu.reference");
  EXPECT_EQ(json["kernels"][0]["device"], "cpu");
  EXPECT_EQ(json["kernels"][0]["rung"], 0);
  EXPECT_EQ(json["kernels"][0]["math"], "fp32");
  EXPECT_FALSE(json["kernels"][0]["idea"].get<std::string>().empty());
  EXPECT_EQ(json["models"].size(), 8u);
  EXPECT_EQ(json["devices"][0]["name"], "cpu");
  EXPECT_FALSE(json["devices"][0]["description"].get<std::string>().empty());
  const auto models = nlohmann::json::parse(run_program({"list", "models", "--json", "-"}).output);
  EXPECT_FALSE(models.contains("kernels"));
  for (const auto& model : models["models"]) {
    EXPECT_GT(model["accuracy"], 0.5) << model;
    EXPECT_THAT(model["input"].get<std::string>(), StartsWith("1x"));
  }
}

TEST(CliUsage, ListsKernelsOfAllOperators) {
  const ProgramRun run = run_program({"list", "kernels"});
  EXPECT_THAT(run.output, HasSubstr("Kernels\n  convolution on cpu\n    cpu.reference"));
  EXPECT_THAT(run.output, HasSubstr("\n  softmax on cpu\n    cpu.softmax  fp32    softmax or its logarithm"));
  EXPECT_THAT(run.output, testing::ContainsRegex("cpu.nhwc_int8_conv_dots +int8 .*\\(after cpu.nhwc_int8_conv\\)"));
  const auto json = nlohmann::json::parse(run_program({"list", "kernels", "--json", "-"}).output);
  std::set<std::string> families;
  for (const auto& kernel : json["kernels"]) {
    families.insert(kernel["family"].get<std::string>());
    EXPECT_FALSE(kernel["idea"].get<std::string>().empty()) << kernel;
  }
  EXPECT_EQ(families.size(), 11U);
}

TEST(CliUsage, OutputThatIsLostIsAnError) {
  const ProgramRun run = run_program({"list", "kernels"}, "/dev/full");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("cannot write to standard output"));
}

}  // namespace
}  // namespace convlab
