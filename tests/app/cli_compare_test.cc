// Tests convlab compare and explain: the first wrong layer, and what a network consists of.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "convlab/tensor/npy.h"
#include "tests/support/onnx_model.h"
#include "tests/support/program_run.h"
#include "tests/support/temporary_folder.h"

namespace convlab {
namespace {

using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// x (N x 2 x 4 x 4) -> Conv -> HardSwish -> mean of each feature map. One weight of the filter is `weight`, the others
/// 0.5.
OnnxModel small_network(float weight) {
  std::vector<float> filter(3 * 2 * 3 * 3, 0.5f);
  filter[7] = weight;
  OnnxModel model(17);
  model.input("x", {-1, 2, 4, 4}).output("sums").initializer("w", OnnxModel::floats({3, 2, 3, 3}, filter));
  model.node("Conv", {"x", "w"}, {"conv"}).node("HardSwish", {"conv"}, {"act"});
  model.node("ReduceMean", {"act"}, {"sums"}).list("axes", {2, 3});
  return model;
}

class Compare : public testing::Test {
 protected:
  std::string written(const std::string& name, const OnnxModel& model) const {
    const std::string path = (folder_.path() / name).string();
    write_file(path, model.bytes());
    return path;
  }
  std::string written(const std::string& name, const Tensor& tensor) const {
    const std::string path = (folder_.path() / name).string();
    write_file(path, to_npy(tensor));
    return path;
  }
  static Tensor counted(const Shape& shape) {
    Tensor tensor(ElementType::f32, shape);
    float next = -3;
    for (float& value : tensor.values<float>()) value = (next += 0.25f) > 4 ? next = -3 : next;
    return tensor;
  }

  TemporaryFolder folder_;
  const std::string right_ = written("right.onnx", small_network(0.5f)),
                    wrong_ = written("wrong.onnx", small_network(0.625f));
  const std::string x_ = written("x.npy", counted({2, 2, 4, 4}));
};

TEST_F(Compare, TheSameNetworkHasNoWrongLayer) {
  const ProgramRun run = run_program({"compare", right_, right_, "--input", x_, "--kernel", "cpu.reference,auto"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, AllOf(HasSubstr("3 layers compared"), HasSubstr("all layers are correct")));
}

TEST_F(Compare, SaysIfTheMathHasNoEffect) {
  const ProgramRun exact =
      run_program({"compare", right_, right_, "--input", x_, "--math", "fp32,bf16x2", "--json", "-"});
  ASSERT_EQ(exact.status, 0) << exact.complaint;
  bool all_fp32 = true;
  for (const Json& layer : Json::parse(exact.output)["layers"]) all_fp32 &= layer["math"] == "fp32";
  EXPECT_EQ(
      exact.complaint.find("note: --math bf16x2 has no effect on B: all steps compute in fp32") != std::string::npos,
      all_fp32);
  const ProgramRun rounded =
      run_program({"compare", right_, right_, "--input", x_, "--kernel", "auto,cpu.nchw16n2c_bf16"});
  EXPECT_THAT(rounded.output, testing::ContainsRegex("the_node +Conv +2x3x2x2 +bf16 "));
  EXPECT_THAT(rounded.complaint, Not(HasSubstr("has no effect")));
  EXPECT_THAT(run_program({"explain", right_, "--math", "fp32"}).complaint, Not(HasSubstr("has no effect")));
}

TEST_F(Compare, NamesTheFirstWrongLayerAndNoneAfterIt) {
  const ProgramRun run = run_program({"compare", right_, wrong_, "--input", x_, "--json", "-"});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.complaint, HasSubstr("'the_node' (Conv) is wrong: element ("));
  const Json json = Json::parse(run.output);
  EXPECT_EQ(json["first_wrong"], "the_node");
  ASSERT_EQ(json["layers"].size(), 3u);
  EXPECT_GT(json["layers"][0]["here"], json["layers"][0]["limit"]);
  EXPECT_EQ(json["layers"][1]["reason"], "") << "given what is expected before it, it is right";
  EXPECT_EQ(json["layers"][1]["here"], 0.0);
  EXPECT_GT(json["layers"][1]["so_far"], 0.0) << "with the error before it, it is not";
}

TEST_F(Compare, JudgesByWhatAFrameworkRecorded) {
  const std::filesystem::path record = folder_.path() / "record";
  std::filesystem::create_directory(record);
  const std::string conv = (folder_.path() / "conv.onnx").string();
  OnnxModel only_conv = small_network(0.5f);
  only_conv.graph().mutable_output(0)->set_name("conv");
  write_file(conv, only_conv.bytes());
  const std::string y = (record / "conv.npy").string();
  ASSERT_EQ(run_program({"infer", conv, "--input", x_, "--output", y}).status, 0);
  EXPECT_EQ(run_program({"compare", right_, record.string(), "--input", x_}).status, 0);
  const ProgramRun run = run_program({"compare", wrong_, record.string(), "--input", x_});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.output, AllOf(HasSubstr("1 layer compared"), HasSubstr("first wrong layer: 'the_node' (Conv)")));
}

TEST_F(Compare, SaysWhichLayersCouldNotBeChecked) {
  const std::filesystem::path record = folder_.path() / "record";
  std::filesystem::create_directory(record);
  const std::string conv = (folder_.path() / "conv.onnx").string(), sums = (record / "sums.npy").string();
  OnnxModel only_conv = small_network(0.5f);
  only_conv.graph().mutable_output(0)->set_name("conv");
  write_file(conv, only_conv.bytes());
  ASSERT_EQ(run_program({"infer", conv, "--input", x_, "--output", (record / "conv.npy").string()}).status, 0);
  ASSERT_EQ(run_program({"infer", right_, "--input", x_, "--output", sums}).status, 0);
  EXPECT_THAT(run_program({"compare", right_, record.string(), "--input", x_}).output,
              AllOf(HasSubstr("2 layers compared"), HasSubstr("1 layer not checked alone"),
                    HasSubstr("all other layers are correct"), Not(HasSubstr("\nall layers"))));
}

TEST_F(Compare, DoesNotJudgeNetworksWithoutACommonLayer) {
  OnnxModel other(17);  // only the output has the same name
  other.input("x", {-1, 2, 4, 4})
      .output("sums")
      .initializer("w", OnnxModel::floats({3, 2, 3, 3}, std::vector(54, 1.f)));
  other.node("Conv", {"x", "w"}, {"conv_b"}).node("Relu", {"conv_b"}, {"act_b"});
  other.node("ReduceMean", {"act_b"}, {"sums"}).list("axes", {2, 3});
  const ProgramRun run = run_program({"compare", right_, written("other.onnx", other), "--input", x_});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint,
              HasSubstr("no layer in common, by the names of its inputs and output; only 'sums' could be "
                        "compared: relative L2 error "));
  EXPECT_THAT(run.output, Not(HasSubstr("correct")));
}

TEST_F(Compare, DoesNotJudgeByNan) {
  Tensor nan = counted({2, 2, 4, 4});
  nan.values<float>()[5] = std::nanf("");
  const ProgramRun input = run_program({"compare", right_, right_, "--input", written("nan.npy", nan)});
  EXPECT_EQ(input.status, 2);
  EXPECT_THAT(input.complaint, HasSubstr("nan.npy: 1 of 64 values are NaN, which all layers would pass on"));
  OnnxModel roots(17);
  roots.input("x", {-1, 2, 4, 4}).output("y").node("Sqrt", {"x"}, {"y"});
  const std::string path = written("roots.onnx", roots);
  EXPECT_THAT(run_program({"compare", path, path, "--input", x_}).output,
              testing::ContainsRegex("NaN on both sides counts as equal: .*'the_node' \\(Sqrt\\): 30 of 64 values"));
}

TEST_F(Compare, ShowsOnlyWrongLayersOfLargeNetworks) {
  constexpr int kLayers = 70;
  OnnxModel deep(17);
  deep.input("x", {-1, 2, 4, 4}).output("y70");
  for (int i = 1; i <= kLayers; ++i)
    deep.node("Relu", {i == 1 ? "x" : "y" + std::to_string(i - 1)}, {"y" + std::to_string(i)});
  const std::string path = written("deep.onnx", deep);
  EXPECT_THAT(run_program({"compare", path, path, "--input", x_}).output,
              AllOf(testing::StartsWith("70 correct layers not shown; --all shows them\n70 layers compared")));
  EXPECT_THAT(run_program({"compare", path, path, "--input", x_, "--all"}).output,
              AllOf(testing::StartsWith("layer "), HasSubstr("\nthe_node_70 "), Not(HasSubstr("not shown"))));
}

TEST_F(Compare, AlignsLongNames) {
  OnnxModel model = small_network(0.5f);
  for (onnx::NodeProto& node : *model.graph().mutable_node())
    node.set_name("/layer2/layer2.0/downsample/downsample.0/" + node.op_type());
  const std::string path = written("long.onnx", model);
  const std::string output = run_program({"compare", path, path, "--input", x_}).output;
  const size_t column = output.find("  shape") + 2;
  for (const char* shape : {"2x3x2x2", "2x3x1x1"}) {
    const size_t at = output.find(shape);
    ASSERT_NE(at, std::string::npos) << output;
    EXPECT_EQ(at - output.rfind('\n', at) - 1, column) << output;
  }
}

TEST_F(Compare, RefusesWhatDoesNotBelongTogether) {
  const std::filesystem::path empty = folder_.path() / "empty";
  std::filesystem::create_directory(empty);
  const ProgramRun none = run_program({"compare", right_, empty.string(), "--input", x_});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.complaint, HasSubstr("no .npy files"));
  write_file(empty / "other.npy", to_npy(counted({1})));
  const ProgramRun other = run_program({"compare", right_, empty.string(), "--input", x_});
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.complaint, HasSubstr("has the same name on the other side"));
  const ProgramRun neither = run_program({"compare", right_, "nodir", "--input", x_});
  EXPECT_EQ(neither.status, 2);
  EXPECT_THAT(neither.complaint, HasSubstr("'nodir' is not a folder of layer outputs, an .onnx or .params file, or a"));
  const ProgramRun three = run_program({"compare", right_, right_, "--input", x_, "--math", "fp32,bf16,fp16"});
  EXPECT_EQ(three.status, 2);
  EXPECT_THAT(three.complaint, HasSubstr("got 3 in 'fp32,bf16,fp16'"));
  const ProgramRun imprecise =
      run_program({"compare", right_, right_, "--input", x_, "--device", "cpu", "--math", "tf32"});
  EXPECT_EQ(imprecise.status, 3);
  EXPECT_THAT(imprecise.complaint, HasSubstr("no convolution kernel on cpu computes in tf32; use fp32, "));
}

TEST_F(Compare, ExplainShowsAndDrawsEachStep) {
  const std::string svg = (folder_.path() / "net.svg").string();
  const ProgramRun run =
      run_program({"explain", right_, "-o", svg, "-n", "2", "--json", (folder_.path() / "net.json").string()});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, AllOf(HasSubstr("2x3x2x2"), HasSubstr("HardSwish"), HasSubstr("3 nodes in 3 steps")));
  EXPECT_THAT(run.output, AllOf(HasSubstr("\n   1  the_node_2  "), HasSubstr("ranked above cpu.")));
  EXPECT_THAT(run.output, AllOf(HasSubstr("roofline: time at the machine's peak rates: fp32 "), HasSubstr("Winograd")));
  EXPECT_THAT(run.output, Not(HasSubstr("time (ms)")));
  EXPECT_THAT(run.output, HasSubstr("\npicture: " + svg + "\n"));
  const std::string drawn = read_text(svg);
  EXPECT_THAT(drawn, AllOf(HasSubstr("<svg"), HasSubstr("HardSwish"), HasSubstr("</svg>")));
  const Json json = Json::parse(read_text(folder_.path() / "net.json"));
  EXPECT_EQ(json["steps"][1]["inputs"], Json::array({0}));
  EXPECT_EQ(json["steps"][0]["flops"], 2.0 * 2 * 3 * 2 * 2 * 2 * 9);
  EXPECT_TRUE(json["steps"][0]["op_time_s"].is_null());
}

TEST_F(Compare, ExplainTimesEachStepAndNamesTheSlowest) {
  OnnxModel model(17);  // a convolution, and an operator that takes far less time
  model.input("x", {-1, 16, 64, 64}).output("y").initializer("w", OnnxModel::ones({16, 16, 3, 3}));
  model.node("Conv", {"x", "w"}, {"c"}).node("GlobalMaxPool", {"c"}, {"y"});
  const std::string json = (folder_.path() / "net.json").string();
  const ProgramRun run =
      run_program({"explain", written("conv.onnx", model), "--plan", "layers", "--repeat", "3", "--json", json});
  ASSERT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, AllOf(HasSubstr("time (ms)"), HasSubstr("slowest step: 0, 'the_node' (Conv): ")));
  const Json steps = Json::parse(read_text(json))["steps"];
  EXPECT_GT(steps[0]["op_time_s"], steps[1]["op_time_s"]);
  EXPECT_GT(steps[1]["op_time_s"], 0.0);
}

TEST_F(Compare, ExplainShortensLongNames) {
  OnnxModel model = small_network(0.5f);
  const std::string exported = "/layer2/layer2.0/downsample/downsample.0/";
  for (onnx::NodeProto& node : *model.graph().mutable_node()) node.set_name(exported + node.op_type());
  const std::string output = run_program({"explain", written("long.onnx", model)}).output;
  EXPECT_THAT(output, HasSubstr("   0  ...layer2.0/downsample/downsample.0/Conv  Conv"));
  EXPECT_THAT(output, HasSubstr("   1  ...2.0/downsample/downsample.0/HardSwish  HardSwish"));
  EXPECT_THAT(output, Not(HasSubstr(exported)));
}

TEST_F(Compare, ExplainSaysWhyAKernelIsUsed) {
  EXPECT_THAT(run_program({"explain", right_, "--kernel", "cpu.im2col_gemm"}).output,
              AllOf(HasSubstr("\n  cpu.im2col_gemm, step 0: requested\n"), Not(HasSubstr("ranked above"))));
}

TEST_F(Compare, ExplainAsksForSizesThatAreOpen) {
  OnnxModel open(17);
  open.input("x", {-1, 2, -1, -1}).output("y").node("Relu", {"x"}, {"y"});
  const std::string path = written("open.onnx", open);
  const ProgramRun asked = run_program({"explain", path});
  EXPECT_EQ(asked.status, 2);
  EXPECT_THAT(asked.complaint, HasSubstr("input 'x' has dynamic sizes: N x 2 x ? x ?"));
  EXPECT_THAT(asked.complaint, HasSubstr("help: --shape x=1x2x224x224"));
  EXPECT_THAT(run_program({"explain", path, "--shape", "x=3x2x8x8"}).output, HasSubstr("3x2x8x8"));
}

TEST_F(Compare, ExplainRefusesShapesOfOtherInputs) {
  OnnxModel two(17);
  two.input("left", {-1, 2}).input("right", {-1, 2}).output("y").node("Add", {"left", "right"}, {"y"});
  const std::string path = written("two.onnx", two);
  const auto refused = [&](std::vector<std::string> shapes) {
    shapes.insert(shapes.begin(), {"explain", path, "--shape"});
    const ProgramRun run = run_program(shapes);
    EXPECT_EQ(run.status, 2) << run.output;
    return run.complaint;
  };
  EXPECT_THAT(refused({"lefft=1x2"}),
              HasSubstr("two has no input 'lefft'; did you mean 'left'? inputs are left, right"));
  EXPECT_THAT(refused({"1x2"}), HasSubstr("name the input for the shape, one of left, right: --shape left=1x2"));
  EXPECT_THAT(refused({"left=1x2", "left=2x2"}), HasSubstr("--shape left=2x2: given twice"));
  EXPECT_THAT(refused({"left=1,2"}), HasSubstr("expected sizes joined by x, such as left=1x3x224x224, got 'left=1,2'"));
  EXPECT_THAT(refused({"left=?x2"}), HasSubstr("expected sizes joined by x"));
  EXPECT_THAT(refused({"left="}), HasSubstr("expected sizes joined by x"));
  EXPECT_THAT(refused({"left=2x3"}), HasSubstr("input 'left' must have shape N x 2, got 2x3"));
}

TEST_F(Compare, ExplainAsksForTheBatchSizeThatTheModelComputesWith) {
  OnnxModel model(17);  // the number of images, limited to 2, as data
  model.input("x", {-1, 4}).output("y").initializer("two", OnnxModel::integers({1}, {2}));
  model.node("Shape", {"x"}, {"s"}).set("end", int64_t{1}).node("Min", {"s", "two"}, {"least"});
  model.node("Cast", {"least"}, {"real"}).set("to", int64_t{OnnxModel::kFloat}).node("Add", {"x", "real"}, {"y"});
  const std::string path = written("min.onnx", model);
  const ProgramRun asked = run_program({"explain", path});
  EXPECT_EQ(asked.status, 2);
  EXPECT_THAT(asked.complaint, AllOf(HasSubstr("node 'the_node_2' (Min, opset 17)"), HasSubstr("help: --shape x=1x4")));
  EXPECT_EQ(run_program({"explain", path, "--shape", "x=3x4"}).status, 0);
  const ProgramRun passed = run_program({"infer", path, "--input", "z=" + x_, "--top", "1"});
  EXPECT_THAT(passed.complaint, HasSubstr("help: pass an array of shape N x 4: --input x=X.npy"));
}

}  // namespace
}  // namespace convlab
