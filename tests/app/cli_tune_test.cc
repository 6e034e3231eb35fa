// Tests convlab tune and --plan-file: a plan is written and replayed bit for bit, and rejected where it does not fit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/plan/plan_file.h"
#include "convlab/tensor/npy.h"
#include "tests/support/onnx_model.h"
#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class Tune : public testing::Test {
 protected:
  Tune() {
    Tensor x(ElementType::f32, {16, 1, 28, 28});
    float next = 0;
    for (float& value : x.values<float>()) value = next = next > 200 ? 0 : next + 7;
    write_file(x_, to_npy(x));
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  ProgramRun tuned(std::vector<std::string> more = {}, const std::string& images = "16") const {
    std::vector<std::string> words{"tune", "fa17-low",  "-o",   plan_,       "-n",
                                   images, "--seconds", "0.01", "--threads", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  ProgramRun inferred(const std::string& output, std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"infer", "fa17-low", "--input", x_, "--output", output};
    if (std::ranges::find(more, "--threads") == more.end()) words.insert(words.end(), {"--threads", "2"});
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words);
  }

  /// Returns infer's message when it rejects the plan.
  std::string complaint(std::vector<std::string> more) const {
    more.insert(more.end(), {"--plan-file", plan_});
    const ProgramRun run = inferred(path("refused.npy"), more);
    EXPECT_EQ(run.status, 2) << run.complaint;
    return run.complaint;
  }

  TemporaryFolder folder_;
  const std::string x_ = path("x.npy"), plan_ = path("plan.txt");
};

TEST_F(Tune, HelpHasExamples) {
  const ProgramRun help = run_program({"tune", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.output, AllOf(HasSubstr("\nExamples:\n  convlab tune"), HasSubstr("--seconds")));
}

TEST_F(Tune, ReplaysWithTheSameBits) {
  const ProgramRun tune = tuned({"--batch", "16"});
  ASSERT_EQ(tune.status, 0) << tune.complaint;
  EXPECT_THAT(tune.complaint, HasSubstr("note: measuring 1 step of 16 images"));
  EXPECT_THAT(tune.output, HasSubstr("\nconvolutions: n batch size (1 if omitted); c, h, w input channels"));
  EXPECT_THAT(read_text(plan_),
              AllOf(HasSubstr("\nmodel fa17-low\n"), HasSubstr("\nbatch 16\n"), HasSubstr("conv cpu.")));
  ASSERT_EQ(inferred(path("a.npy")).status, 0);
  const ProgramRun replayed = inferred(path("b.npy"), {"--plan-file", plan_}),
                   again = inferred(path("c.npy"), {"--plan-file", plan_});
  ASSERT_EQ(replayed.status, 0) << replayed.complaint;
  EXPECT_EQ(read_file(path("b.npy")), read_file(path("a.npy")));
  EXPECT_EQ(read_file(path("c.npy")), read_file(path("b.npy")));
}

TEST_F(Tune, FindsTheFastestKernelOfAnyOperator) {
  for (const std::string problem : {"matmul_m64n48k32", "layernorm_r16c64", "byteconv_c16h8w8_k16r3s3_p1"}) {
    const std::string json = path("kernels.json");
    const ProgramRun tune = run_program(
        {"tune", "--kernel", "cpu.*", "--problem", problem, "--seconds", "0.05", "--threads", "2", "--json", json});
    ASSERT_EQ(tune.status, 0) << tune.complaint;
    const Json result = Json::parse(read_text(json))["problems"][0];
    EXPECT_EQ(result["problem"], problem);
    ASSERT_FALSE(result["kernels"].empty());
    EXPECT_EQ(result["preferred"], result["kernels"][0]["kernel"]);
    EXPECT_LT(result["fastest"], result["kernels"].size());
    for (const Json& kernel : result["kernels"]) EXPECT_GT(kernel["ms"], 0.0);
    EXPECT_THAT(tune.output, HasSubstr(result["kernels"][0]["kernel"].get<std::string>()));
  }
}

TEST_F(Tune, SaysThatOneKernelSupportsTheProblem) {
  const ProgramRun tune = run_program(
      {"tune", "--kernel", "cpu.im2col_gemm", "--problem", "c4h9w9_k8r3s3", "--seconds", "0.05", "--threads", "2"});
  ASSERT_EQ(tune.status, 0) << tune.complaint;
  EXPECT_THAT(tune.output, HasSubstr("only cpu.im2col_gemm supports it"));
}

TEST_F(Tune, RefusesOptionsThatDoNotFit) {
  const auto complaint_of = [](std::vector<std::string> words) {
    words.insert(words.begin(), "tune");
    const ProgramRun run = run_program(words);
    EXPECT_EQ(run.status, 2);
    return run.complaint;
  };
  EXPECT_THAT(complaint_of({}), HasSubstr("MODEL is required, or --problem"));
  EXPECT_THAT(complaint_of({"fa17-low"}), HasSubstr("-o is required"));
  EXPECT_THAT(complaint_of({"--kernel", "cpu.*"}), HasSubstr("--kernel needs --problem or --shapes"));
  EXPECT_THAT(complaint_of({"fa17-low", "--problem", "softmax_r2c3"}), HasSubstr("cannot be combined with MODEL"));
  EXPECT_THAT(complaint_of({"--kernel", "cpu.softmax", "--problem", "layernorm_r2c8"}),
              HasSubstr("layernorm_r2c8: no kernel of 'cpu.softmax' supports it: only Softmax"));
}

TEST_F(Tune, ChoosesKernelsOfOtherOperators) {
  const ProgramRun tune = tuned({"--batch", "2"}, "2");
  ASSERT_EQ(tune.status, 0) << tune.complaint;
  EXPECT_THAT(read_text(plan_), testing::ContainsRegex("\nop   cpu.[a-z_]+ +gemm_m2n10k[0-9]+_tb_bias "));
  const ProgramRun explained = run_program({"explain", "fa17-low", "-n", "2", "--threads", "2", "--plan-file", plan_});
  ASSERT_EQ(explained.status, 0) << explained.complaint;
  EXPECT_THAT(explained.output, HasSubstr("tuned ("));
}

TEST_F(Tune, SaysWhetherAnythingChanged) {
  const std::string json = path("tune.json");
  const ProgramRun tune = tuned({"--json", json});
  ASSERT_EQ(tune.status, 0) << tune.complaint;
  const Json results = Json::parse(read_text(json));
  bool changed = !results["ways"][0]["taken"];
  for (const Json& plan : results["plans"]) {
    for (const Json& step : plan["steps"]) changed |= step["why"] == "faster";
  }
  EXPECT_THAT(tune.output, HasSubstr(changed ? " ms with the planner's choices" : ": no change, nothing is clearly"));
  EXPECT_EQ(results["planned_s"] == results["tuned_s"], !changed);
}

TEST_F(Tune, WritesJson) {
  const std::string json = path("tune.json");
  ASSERT_EQ(tuned({"--json", json}).status, 0);
  const Json results = Json::parse(read_text(json));
  EXPECT_EQ(results["model"], "fa17-low");
  EXPECT_FALSE(results["ways"].empty());
  EXPECT_FALSE(results["plans"][0]["steps"].empty());
}

TEST_F(Tune, ExplainTellsTheReason) {
  ASSERT_EQ(tuned({"--batch", "16"}).status, 0);
  const ProgramRun run = run_program({"explain", "fa17-low", "-n", "16", "--threads", "2", "--plan-file", plan_});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("tuned ("));
}

TEST_F(Tune, RunAndCompareReplay) {
  ASSERT_EQ(tuned({"--bytes", "--batch", "20"}, "20").status, 0);
  EXPECT_THAT(read_text(plan_), AllOf(HasSubstr("\nbatch 16\n"), HasSubstr("\nplan 4x1x28x28 ")));
  const ProgramRun run = run_program({"run", "fa17-low", "-n", "20", "--threads", "2", "--plan-file", plan_});
  EXPECT_EQ(run.status, 0) << run.complaint;
  ASSERT_EQ(tuned({"--plan", "layers"}).status, 0);
  const ProgramRun compare =
      run_program({"compare", "fa17-low", "fa17-low", "--input", x_, "--threads", "2", "--plan-file", plan_});
  EXPECT_EQ(compare.status, 0) << compare.complaint;
}

TEST_F(Tune, WhatDoesNotFitIsRefused) {
  ASSERT_EQ(tuned({"--batch", "16"}).status, 0);
  const ProgramRun other = run_program({"explain", "fa19", "-n", "16", "--threads", "2", "--plan-file", plan_});
  EXPECT_EQ(other.status, 2) << other.output;
  EXPECT_THAT(other.complaint,
              HasSubstr("plan.txt: line 9: plan is for a different model, 'fa17-low', not for this fa19"));
  EXPECT_THAT(complaint({"--threads", "1"}), HasSubstr("use --threads 2"));
  EXPECT_THAT(complaint({"--math", "bf16"}), HasSubstr("use --math fp32"));
  EXPECT_THAT(complaint({"--plan", "layers"}), HasSubstr("tune again with --plan layers"));
  EXPECT_THAT(complaint({"--batch", "8"}), HasSubstr("omit --batch"));
  EXPECT_THAT(complaint({"--kernel", "cpu.direct"}), HasSubstr("cannot be combined"));
  write_file(plan_, read_text(plan_) + "\n");
  EXPECT_THAT(complaint({}), HasSubstr("plan.txt: line "));
  write_file(plan_, "");
  EXPECT_THAT(complaint({}), HasSubstr("line 1: unexpected end of file"));
}

TEST_F(Tune, WhatWasEditedIsRefused) {
  ASSERT_EQ(tuned({"--batch", "16"}).status, 0);
  const std::string text = read_text(plan_);
  const auto with = [&](auto change, std::vector<std::string> more = {}) {
    PlanFile file = parse_plan_file(text, plan_);
    change(file);
    write_file(plan_, to_text(file));  // with a valid checksum
    return complaint(std::move(more));
  };
  EXPECT_THAT(with([](PlanFile& file) { file.choices.plans[0].kernels[0].kernel = "cpu.dense"; }),
              HasSubstr("plan.txt: line 14: kernel cpu.dense for 'conv1+pool1+tanh1' is not available"));
  EXPECT_THAT(with([](PlanFile& file) { file.choices.plans[0].kernels[0].kernel = "cpu.nchw8c_depthwise"; }),
              HasSubstr("plan.txt: line 14: fa17-low: node 'conv1' (Conv, n16_c1h28w28_k50r5s5): not supported by the "
                        "file's kernel: cpu.nchw8c_depthwise: "));
  EXPECT_THAT(with([](PlanFile& file) { file.processor = "Z80"; }),
              HasSubstr("plan.txt: line 6: plan is for processor Z80, but this run has "));
  EXPECT_THAT(with([](PlanFile& file) { file.version = "0.0.1"; }), HasSubstr("plan.txt: line 2: "));
  EXPECT_THAT(with([](PlanFile& file) { file.device = DeviceKind::cuda; }, {"--device", "cpu"}),
              HasSubstr("plan.txt: line 5: plan is for device cuda, but this run has cpu"));
  EXPECT_THAT(with([](PlanFile& file) { file.choices.plans[0].inputs[0][0] = 8; }),
              HasSubstr("plan.txt: no plan for inputs of 16x1x28x28; the file has 8x1x28x28"));
  std::string edited = text;
  edited.replace(edited.find("batch 16"), 8, "batch 12");
  write_file(plan_, edited);
  EXPECT_THAT(complaint({}), HasSubstr("checksum mismatch: the file was edited"));
}

/// Two convolutions of 16 channels, for which several kernels and layouts compete.
TEST_F(Tune, OnnxNetworksReplayWithTheSameBits) {
  OnnxModel model(13);
  model.input("x", {1, 16, 12, 12}).output("y");
  std::vector<float> weights(size_t{16} * 16 * 3 * 3);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 7) * 0.01f - 0.03f;
  model.initializer("w", OnnxModel::floats({16, 16, 3, 3}, weights));
  model.node("Conv", {"x", "w"}, {"a"}).node("Relu", {"a"}, {"b"}).node("Conv", {"b", "w"}, {"y"});
  const std::string net = path("net.onnx"), x = path("x16.npy");
  write_file(net, model.bytes());
  Tensor pixels(ElementType::f32, {1, 16, 12, 12});
  for (size_t i = 0; float& value : pixels.values<float>()) value = static_cast<float>(i++ % 11);
  write_file(x, to_npy(pixels));
  const ProgramRun tune = run_program({"tune", net, "-o", plan_, "--input", x, "--seconds", "0.01", "--threads", "2"});
  ASSERT_EQ(tune.status, 0) << tune.complaint;
  for (const char* output : {"a.npy", "b.npy"}) {
    const ProgramRun run =
        run_program({"infer", net, "--input", x, "--output", path(output), "--threads", "2", "--plan-file", plan_});
    ASSERT_EQ(run.status, 0) << run.complaint;
  }
  EXPECT_EQ(read_file(path("a.npy")), read_file(path("b.npy")));
}

}  // namespace
}  // namespace convlab
