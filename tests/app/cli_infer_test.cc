// Tests convlab infer end to end: images, archives, class labels and profiles.

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "convlab/tensor/npy.h"
#include "convlab/tensor/npz.h"
#include "tests/support/onnx_model.h"
#include "tests/support/picture_files.h"
#include "tests/support/program_run.h"
#include "tests/support/tensor_values.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Infer : public testing::Test {
 protected:
  Infer() {
    write_model("same.onnx", OnnxModel(13).input("x", {-1, 3, -1, -1}).output("y").node("Identity", {"x"}, {"y"}));
    write_file(path("red.png"), png_bytes({.width = 4, .height = 4, .samples = filled(16, {255, 0, 0})}));
    write_file(path("blue.png"), png_bytes({.width = 4, .height = 4, .samples = filled(16, {0, 0, 255})}));
    write_file(path("blue.jpg"), jpeg_bytes({.width = 8, .height = 4, .samples = filled(32, {0, 0, 255})}));
  }

  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  void write_model(const std::string& name, const OnnxModel& model) const { write_file(path(name), model.bytes()); }

  /// Writes a model whose scores for a 4 x 4 image are the means of red, green and blue, from 0 to 1.
  void write_classifier() const {
    OnnxModel model(13);
    model.input("x", {-1, 3, 4, 4}).output("y").node("GlobalAveragePool", {"x"}, {"m"}).node("Flatten", {"m"}, {"y"});
    write_model("means.onnx", model);
  }

  ProgramRun infer(const std::string& model, std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"infer", path(model)});
    return run_program(arguments);
  }
  Tensor output(const std::string& model, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--output", path("y.npy")});
    const ProgramRun run = infer(model, arguments);
    EXPECT_EQ(run.status, 0) << run.complaint;
    return parse_npy(read_file(path("y.npy")), "y.npy");
  }
  void expect_refused(const std::string& model, const std::vector<std::string>& arguments,
                      const std::vector<std::string>& parts) const {
    const ProgramRun run = infer(model, arguments);
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.output, IsEmpty());
    for (const std::string& part : parts) EXPECT_THAT(run.complaint, HasSubstr(part));
  }

  TemporaryFolder folder_;
};

TEST_F(Infer, APictureBecomesAnInput) {
  const Tensor y = output("same.onnx", {"--image", path("red.png"), "--mean", "0.5", "--std", "0.25,0.5,1"});
  EXPECT_EQ(y.shape(), (Shape{1, 3, 4, 4}));
  const auto values = values_of<float>(y);
  EXPECT_EQ(values[0], 2);
  EXPECT_EQ(values[16], -1);
  EXPECT_EQ(values[32], -0.5);
}

TEST_F(Infer, SeveralAreScaledAlikeAndStandInOrder) {
  const Tensor y = output("same.onnx", {"--image", path("red.png"), path("blue.jpg"), path("red.png"), "--preset",
                                        "raw", "--channels", "bgr", "--resize", "2x3"});
  EXPECT_EQ(y.shape(), (Shape{3, 3, 2, 3}));
  const auto values = values_of<float>(y);
  EXPECT_EQ(values[0], 0) << "red has no blue";
  EXPECT_NEAR(values[18], 255, 2);
  EXPECT_EQ(values[36 + 12], 255);
}

TEST_F(Infer, AModelOfBytesGetsBytes) {
  write_model("bytes.onnx", OnnxModel(13)
                                .input("x", {1, 4, 4, 3}, onnx::TensorProto::UINT8)
                                .output("y")
                                .node("Cast", {"x"}, {"y"})
                                .set("to", int64_t{OnnxModel::kFloat}));
  const Tensor y = output("bytes.onnx", {"--image", path("red.png"), "--layout", "nhwc"});
  EXPECT_EQ(y.shape(), (Shape{1, 4, 4, 3}));
  EXPECT_EQ(values_of<float>(y)[0], 255);
  expect_refused("bytes.onnx", {"--image", path("red.png"), "--layout", "nhwc", "--mean", "1"}, {"--mean", "uint8"});
}

TEST_F(Infer, ClassesOfPictures) {
  write_classifier();
  write_file(path("labels.txt"), "red\r\ngreen\nblue\n");
  const std::vector<std::string> arguments{
      "--image", path("red.png"), path("blue.png"), "--labels", path("labels.txt"), "--top", "2"};
  const ProgramRun run = infer("means.onnx", arguments);
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, AllOf(HasSubstr("red.png:\n  class 0 (red)    100.0000 %\n  class 1 (green)    0.0000 %\n"),
                                HasSubstr("blue.png:\n  class 2 (blue)")));
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--json", "-"});
  const auto json = nlohmann::json::parse(infer("means.onnx", as_json).output);
  ASSERT_EQ(json["top"].size(), 2u);
  ASSERT_EQ(json["top"][1].size(), 2u);
  EXPECT_EQ(json["top"][1][0]["class"], 2);
  EXPECT_EQ(json["top"][1][0]["label"], "blue");
  EXPECT_EQ(json["top"][1][0]["score"], 1);
}

TEST_F(Infer, ScoresThatDoNotAddUpToOneBecomeProbabilities) {
  write_classifier();
  const ProgramRun run =
      infer("means.onnx", {"--image", path("red.png"), "--preset", "raw", "--std", "255", "--mean", "255"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, HasSubstr("class 0   57.6117 %\n")) << "1 / (1 + 2 / e)";
}

TEST_F(Infer, ClassesOfArrays) {
  write_classifier();
  Tensor x(ElementType::f32, {2, 3, 4, 4});
  std::ranges::fill(x.values<float>(), 0.25f);
  write_file(path("x.npy"), to_npy(x));
  const ProgramRun run = infer("means.onnx", {"--input", path("x.npy"), "--top", "1"});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, AllOf(HasSubstr("image 0:\n  class 0   33.3333 %\n"), HasSubstr("image 1:\n")));
}

TEST_F(Infer, WhatIsNotClassesIsRefusedIfAskedFor) {
  EXPECT_EQ(infer("same.onnx", {"--image", path("red.png")}).status, 0);
  expect_refused("same.onnx", {"--image", path("red.png"), "--top", "1"}, {"--top", "1x3x4x4"});
  write_classifier();
  write_file(path("labels.txt"), "a\nb\n");
  expect_refused("means.onnx", {"--image", path("red.png"), "--labels", path("labels.txt")},
                 {"labels.txt: expected 3 labels", "got 2"});
  write_file(path("labels.txt"), "\n\n");
  expect_refused("means.onnx", {"--image", path("red.png"), "--labels", path("labels.txt")}, {"no label"});
}

TEST_F(Infer, PicturesThatDoNotFit) {
  write_classifier();
  expect_refused("means.onnx", {"--image", path("blue.jpg")}, {"expects N x 3 x 4 x 4", "1x3x4x8", "--resize"});
  expect_refused("same.onnx", {"--image", path("red.png"), path("blue.jpg")}, {"blue.jpg has 4x8", "red.png has 4x4"});
  expect_refused("same.onnx", {"--image", path("red.png"), path("none.png")}, {"none.png"});
  expect_refused("same.onnx", {"--image", "z=" + path("red.png")}, {"no input 'z'", "x"});
  write_file(path("text.png"), "no picture");
  expect_refused("same.onnx", {"--image", path("red.png"), path("text.png")}, {"text.png: not a JPEG or PNG image"});
  expect_refused("same.onnx", {"--image", path("red.png"), "--mean", "1,2"}, {"--mean must have one number"});
  expect_refused("same.onnx", {"--image", path("red.png"), "--preset", "imagnet"}, {"did you mean 'imagenet'"});
}

TEST_F(Infer, UsageThatCannotBeMeant) {
  Tensor x(ElementType::u8, {1, 3, 1, 1});
  std::ranges::fill(x.values<uint8_t>(), uint8_t{1});
  write_file(path("x.npy"), to_npy(x));
  expect_refused("same.onnx", {"--input", path("x.npy")}, {"--output, --top, --repeat or --json"});
  expect_refused("same.onnx", {"--output", path("y.npy")}, {"--input or --image"});
  expect_refused("same.onnx", {"--input", path("x.npy"), "--json", "-", "--resize", "8"},
                 {"--resize needs --image; arrays of --input must be prepared"});
}

TEST_F(Infer, AnArrayOfAnotherLayoutGetsTheRemedy) {
  write_model("colors.onnx", OnnxModel(13).input("x", {-1, 3, 8, 4}).output("y").node("Relu", {"x"}, {"y"}));
  const auto refused = [&](const Shape& shape, const std::string& part) {
    write_file(path("x.npy"), to_npy(Tensor(ElementType::f32, shape)));
    for (const char* where : {"y.npy", "z.npy"}) {
      std::vector<std::string> arguments{"--input", path("x.npy"), "--output", path(where)};
      if (where == std::string("z.npy")) arguments.push_back("--stream");
      expect_refused("colors.onnx", arguments,
                     {"input 'x' must have shape N x 3 x 8 x 4, got " + to_text(shape), part});
    }
  };
  refused({2, 8, 4, 3}, "help: the array looks like NHWC: x.transpose(0, 3, 1, 2)");
  write_file(path("x.npy"), to_npy(Tensor(ElementType::f32, {3, 8, 4})));
  const std::vector<std::string> given{"--input", path("x.npy"), "--output", path("y.npy")};
  expect_refused("colors.onnx", given, {"help: add a batch dimension: x[None]"});
  write_file(path("x.npy"), to_npy(Tensor(ElementType::f32, {8, 4, 3})));
  expect_refused("colors.onnx", given, {"help: the array looks like HWC: x.transpose(2, 0, 1)[None]"});
}

TEST_F(Infer, NamesTheSlowestLayer) {
  OnnxModel model(13);  // a convolution, and an operator that takes far less time
  model.input("x", {-1, 16, 32, 32}).output("y").initializer("w", OnnxModel::ones({16, 16, 3, 3}));
  model.node("Conv", {"x", "w"}, {"c"}).node("GlobalMaxPool", {"c"}, {"y"});
  write_model("conv.onnx", model);
  write_file(path("x.npy"), to_npy(Tensor(ElementType::f32, {1, 16, 32, 32})));
  EXPECT_THAT(infer("conv.onnx", {"--input", path("x.npy"), "--plan", "layers", "--repeat", "3"}).output,
              AllOf(HasSubstr("\nof bound: "), HasSubstr("\nslowest layer: 'the_node' (Conv): ")));
  EXPECT_THAT(infer("conv.onnx", {"--input", path("x.npy"), "--profile"}).output, HasSubstr("--repeat 10 shows each"));
}

TEST_F(Infer, AnUnsupportedOperatorComesWithTheListOfSupportedOnes) {
  write_model("bad.onnx", OnnxModel(13).input("x", {1}).output("y").node("Rexu", {"x"}, {"y"}));
  const ProgramRun run = run_program({"explain", path("bad.onnx")});
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.complaint, HasSubstr("help: docs/guide/networks.md lists what is supported"));
}

TEST_F(Infer, ConvertCountsTheOperatorsOfALargeNetwork) {
  OnnxModel model(13);
  model.input("x", {1, 8}).output("y40");
  for (int i = 1; i <= 40; ++i)
    model.node(i % 2 == 0 ? "Relu" : "Tanh", {i == 1 ? "x" : "y" + std::to_string(i - 1)}, {"y" + std::to_string(i)});
  write_model("deep.onnx", model);
  EXPECT_THAT(run_program({"convert", path("deep.onnx"), "-o", path("out.onnx")}).output,
              HasSubstr("out.onnx: 40 nodes: 20 Tanh, 20 Relu; "));
}

TEST_F(Infer, SaysIfTheOutputIsNan) {
  write_classifier();
  Tensor x(ElementType::f32, {1, 3, 4, 4});
  std::ranges::fill(x.values<float>(), 0.25f);
  write_file(path("x.npy"), to_npy(x));
  const std::vector<std::string> given{"--input", path("x.npy"), "--output", path("y.npy")};
  EXPECT_EQ(infer("means.onnx", given).complaint.find("NaN"), std::string::npos);
  x.values<float>()[20] = std::nanf("");
  write_file(path("x.npy"), to_npy(x));
  const ProgramRun run = infer("means.onnx", given);
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.complaint, AllOf(HasSubstr("note: output 'y': 1 of 3 values are NaN; check the input: "),
                                   HasSubstr("x.npy has NaN, too")));
  const ProgramRun top = infer("means.onnx", {"--input", path("x.npy"), "--top", "1"});
  EXPECT_EQ(top.status, 1);
  EXPECT_THAT(top.complaint, AllOf(HasSubstr("check the input: "), HasSubstr("image 0 is NaN or infinite")));
  write_model("root.onnx", OnnxModel(13).input("x", {1}).output("y").node("Sqrt", {"x"}, {"y"}));
  Tensor negative(ElementType::f32, {1});
  negative.values<float>()[0] = -1;
  write_file(path("x.npy"), to_npy(negative));
  EXPECT_THAT(infer("root.onnx", given).complaint, HasSubstr("1 of 1 values are NaN; the input has none: a layer"));
}

TEST_F(Infer, ConvertRefusesAShapeThatDoesNotFit) {
  write_classifier();
  const auto refused = [&](const std::string& model, const std::string& shape) {
    const ProgramRun run = run_program({"convert", path(model), "-o", path("out.onnx"), "--shape", shape});
    EXPECT_EQ(run.status, 2);
    return run.complaint;
  };
  EXPECT_THAT(refused("means.onnx", "1x3x8x8"), HasSubstr("input 'x' must have shape N x 3 x 4 x 4, got 1x3x8x8"));
  EXPECT_THAT(refused("same.onnx", "1x3x8"), HasSubstr("help: --shape x=1x3x8x224"));
  write_model("fixed.onnx", OnnxModel(13).input("x", {1, 4}).output("y").node("Relu", {"x"}, {"y"}));
  EXPECT_THAT(refused("fixed.onnx", "2x4"), HasSubstr("help: omit --shape: the model's sizes are fixed"));
  EXPECT_EQ(run_program({"convert", path("same.onnx"), "-o", path("out.onnx"), "--shape", "1x3x8x8"}).status, 0);
}

TEST_F(Infer, AFolderForOneOutputIsMade) {
  write_file(path("x.npy"), to_npy(Tensor(ElementType::f32, {1, 3, 1, 1})));
  EXPECT_EQ(infer("same.onnx", {"--input", path("x.npy"), "--output", path("new/")}).status, 0);
  EXPECT_EQ(parse_npy(read_file(path("new/y.npy")), "y.npy").shape(), (Shape{1, 3, 1, 1}));
}

/// y = a + b, z = a - b.
OnnxModel two_inputs() {
  OnnxModel model(13);
  model.input("a", {-1, 3, 4, 4}).input("b", {-1, 3, 4, 4}).output("y").output("z");
  model.node("Add", {"a", "b"}, {"y"}).node("Sub", {"a", "b"}, {"z"});
  return model;
}

TEST_F(Infer, ArchivesNameInputsAndOutputs) {
  write_model("two.onnx", two_inputs());
  const std::vector<float> ones(48, 1), threes(48, 3);
  NamedTensor arrays[] = {{"b", Tensor::of<float>({1, 3, 4, 4}, ones)}, {"a", Tensor::of<float>({1, 3, 4, 4}, threes)}};
  write_file(path("x.npz"), to_npz(arrays));
  const ProgramRun run = infer("two.onnx", {"--input", path("x.npz"), "--output", path("y.npz")});
  EXPECT_EQ(run.status, 0) << run.complaint;
  const auto outputs = parse_npz(read_file(path("y.npz")), "y.npz");
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].name, "y");
  EXPECT_EQ(outputs[0].tensor.values<float>()[0], 4);
  EXPECT_EQ(outputs[1].name, "z");
  EXPECT_EQ(run.output, fmt::format("input 'a' from {0}: 1x3x4x4\ninput 'b' from {0}: 1x3x4x4\n"
                                    "output 'y' in {1}: 1x3x4x4\noutput 'z' in {1}: 1x3x4x4\n",
                                    path("x.npz"), path("y.npz")));
  EXPECT_EQ(outputs[1].tensor.values<float>()[47], 2);
  expect_refused("two.onnx", {"--input", "a=" + path("x.npz"), "--output", path("y.npz")}, {"have names already"});
  expect_refused("two.onnx", {"--input", path("x.npz"), "--output", path("y.npy")}, {"2 outputs", "y.npz"});
}

TEST_F(Infer, PicturesOfSeveralInputs) {
  write_model("two.onnx", two_inputs());
  const ProgramRun run = infer("two.onnx", {"--image", "b=" + path("red.png"), "a=" + path("blue.jpg"), "--crop", "4",
                                            "--output", path("y.npz")});
  EXPECT_EQ(run.status, 0) << run.complaint;
  const auto outputs = parse_npz(read_file(path("y.npz")), "y.npz");
  EXPECT_NEAR(outputs[1].tensor.values<float>()[0], -1, 0.02) << "blue less red, of red";
  expect_refused("two.onnx", {"--image", path("red.png"), "--output", path("y.npz")}, {"name the input", "a, b"});
  const std::string x = path("x.npy"), y = path("y.npz");
  write_file(x, to_npy(Tensor(ElementType::f32, {1, 3, 4, 4})));
  expect_refused("two.onnx", {"--input", x, "--output", y}, {"name the input for the file, one of a, b: --input a="});
  expect_refused("two.onnx", {"--input", "a=" + x, "--input", "bb=" + x, "--output", y},
                 {"two has no input 'bb'; did you mean 'b'? inputs are a, b"});
  expect_refused("two.onnx", {"--input", "a=" + x, "--output", y}, {"input 'b' is missing; inputs are a, b"});
}

TEST_F(Infer, AnUnnamedArrayIsForTheOnlyInput) {
  const std::vector<float> ones(3, 1);
  NamedTensor arrays[] = {{"arr_0", Tensor::of<float>({1, 3, 1, 1}, ones)}};
  write_file(path("x.npz"), to_npz(arrays));
  EXPECT_EQ(output("same.onnx", {"--input", path("x.npz")}).shape(), (Shape{1, 3, 1, 1}));
}

TEST_F(Infer, AProfileAndATrace) {
  write_classifier();
  const ProgramRun run = infer("means.onnx", {"--image", path("red.png"), "--profile", "--trace", path("trace.json")});
  EXPECT_EQ(run.status, 0) << run.complaint;
  EXPECT_THAT(run.output, AllOf(HasSubstr("Profiling result"), HasSubstr("convlab infer")));
  EXPECT_FALSE(nlohmann::json::parse(read_text(path("trace.json"))).empty());
}

TEST_F(Infer, WeightsAreInMemoryOnce) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers keep freed memory and notes of their own";
#endif
  // Three dense layers of 16 MiB each, and a convolution with a fused Mul.
  constexpr int64_t kSide = 2048, kMaps = 512;
  const auto weights = [](const Shape& shape) {
    return OnnxModel::raw<float>(shape, OnnxModel::kFloat,
                                 std::vector<float>(static_cast<size_t>(element_count(shape)), 0.1f));
  };
  OnnxModel model(13);
  model.input("x", {-1, kSide}).output("y");
  std::string last = "x";
  for (const std::string layer : {"a", "b", "c"}) {
    model.initializer("w" + layer, weights({kSide, kSide}))
        .node("Gemm", {last, "w" + layer}, {layer})
        .set("transB", int64_t{1});
    last = layer;
  }
  model.initializer("shape", OnnxModel::integers({4}, {-1, kMaps, 2, 2})).node("Reshape", {last, "shape"}, {"image"});
  model.initializer("wd", weights({kMaps, kMaps, 3, 3}))
      .node("Conv", {"image", "wd"}, {"d"})
      .list("pads", {1, 1, 1, 1});
  model.initializer("two", weights({1, kMaps, 1, 1})).node("Mul", {"d", "two"}, {"y"});
  write_model("large.onnx", model);
  Tensor x(ElementType::f32, {1, kSide});
  std::ranges::fill(x.values<float>(), 1e-6f);
  write_file(path("x.npy"), to_npy(x));

  const ProgramRun run = infer("large.onnx", {"--input", path("x.npy"), "--repeat", "1", "--json", "-"});
  ASSERT_EQ(run.status, 0) << run.complaint;
  const auto json = nlohmann::json::parse(run.output);
  const int64_t before = json["memory_before_kb"], most = json["memory_most_kb"];
  const auto file = static_cast<double>(std::filesystem::file_size(path("large.onnx"))) / 1024;
  EXPECT_GE(static_cast<double>(most - before), 0.9 * file);
  EXPECT_LE(static_cast<double>(most - before), 1.6 * file) << "all weights, and the largest layer's twice";
}

}  // namespace
}  // namespace convlab
