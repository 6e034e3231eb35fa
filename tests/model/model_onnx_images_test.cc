// Tests models that compute with a dynamic first dimension, such as the number of images. Results that are linear in it
// stay dynamic; all others are computed from the given size.

#include "convlab/model/onnx/onnx_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "tests/model/op_text.h"
#include "tests/model/shape_model.h"
#include "tests/support/tensor_values.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using Proto = onnx::TensorProto;

/// 1, 2, 3, ...
Tensor counting(const Shape& shape) {
  Tensor x(ElementType::f32, shape);
  const auto values = x.values<float>();
  std::iota(values.begin(), values.end(), 1.0f);
  return x;
}

Graph read_for(const OnnxModel& model, const Shape& shape) {
  return import_onnx(model.bytes(), "test.onnx", {.input_shapes = {{"x", shape}}});
}

/// Imports the model for this input shape and runs it on counting(shape).
Tensor computed(const OnnxModel& model, const Shape& shape) {
  const auto device = open_cpu({.threads = 1});
  Engine engine(read_for(model, shape), shape, *device, {.at_once = true});
  const Tensor x = counting(shape);
  return std::move(engine.run({&x, 1})[0]);
}

/// Expects that the importer rejects the model without its input's shape, and asks for it.
void expect_needs_shape(const OnnxModel& model) {
  EXPECT_THROW(import(model), OpenSize);
  EXPECT_THAT(refusal(model), HasSubstr("set the shape of input 'x' (N x "));
}

/// Expects that one import works for any number of images, with or without the input's shape.
void expect_open(const OnnxModel& model, const Shape& shape) {
  EXPECT_EQ(import(model).inputs[0].shape[0], -1);
  EXPECT_EQ(read_for(model, shape).inputs[0].shape[0], -1);
}

/// A model that multiplies rows of 3 by f(number of rows).
ShapeModel times(const std::string& op, const std::vector<std::string>& inputs) {
  ShapeModel model({-1, 3});
  model.size(0, "n").number("zero", 0).number("one", 1).number("three", 3).number("four", 4).number("seven", 7);
  model.then(op, inputs, "f").then("Cast", {"f"}, "real").attribute_of_last("to", Proto::FLOAT);
  model.then("Mul", {"x", "real"}, "y");
  return model;
}

TEST(OnnxImages, WhatIsNotLinearIsComputedFromTheGivenNumber) {
  struct Case {
    std::string op;
    std::vector<std::string> inputs;
    std::vector<float> factors;  // for 1, 2, ... 8 rows
  };
  const Case cases[] = {{"Min", {"n_number", "four"}, {1, 2, 3, 4, 4, 4, 4, 4}},
                        {"Max", {"four", "n_number"}, {4, 4, 4, 4, 5, 6, 7, 8}},
                        {"Mod", {"n_number", "three"}, {1, 2, 0, 1, 2, 0, 1, 2}},
                        {"Div", {"n_number", "three"}, {0, 0, 1, 1, 1, 2, 2, 2}},
                        {"Equal", {"n_number", "seven"}, {0, 0, 0, 0, 0, 0, 1, 0}},
                        {"Equal", {"n_number", "one"}, {1, 0, 0, 0, 0, 0, 0, 0}},
                        {"Less", {"n_number", "seven"}, {1, 1, 1, 1, 1, 1, 0, 0}},
                        {"Greater", {"n_number", "one"}, {0, 1, 1, 1, 1, 1, 1, 1}},
                        {"Mul", {"n_number", "n_number"}, {1, 4, 9, 16, 25, 36, 49, 64}}};
  for (const Case& each : cases) {
    const ShapeModel model = times(each.op, each.inputs);
    SCOPED_TRACE(each.op);
    expect_needs_shape(model);
    for (int64_t rows = 1; rows <= 8; ++rows) {
      const Shape shape{rows, 3};
      std::vector<float> wanted = values_of<float>(counting(shape));
      for (float& value : wanted) value *= each.factors[static_cast<size_t>(rows - 1)];
      EXPECT_THAT(values_of<float>(computed(model, shape)), ElementsAreArray(wanted)) << rows << " rows";
    }
    EXPECT_EQ(read_for(model, {5, 3}).inputs[0].shape, (Shape{5, 3})) << "what is read for it takes no other number";
  }
}

TEST(OnnxImages, ChecksTakeNoMemoryOfConstants) {
  ShapeModel model({-1, 3});  // each choice is checked for each number of images in `sizes`
  constexpr int kNodes = 200;
  std::vector<int64_t> sizes(60);
  std::iota(sizes.begin(), sizes.end(), 1);
  model.size(0, "n").list("sizes", sizes).list("yes", {1}).then("Cast", {"yes"}, "always");
  model.attribute_of_last("to", Proto::BOOL);
  for (int i = 0; i < kNodes; ++i) model.then("Where", {"always", "n", "sizes"}, "v" + std::to_string(i));
  model.list("first", {0}).then("Gather", {"v0", "first"}, "rows").list("rest", {-1});
  model.concat({"rows", "rest"}, "to").then("Reshape", {"x", "to"}, "y");
  expect_open(model, {3, 3});
}

TEST(OnnxImages, BranchesAndChoices) {
  ShapeModel squeeze({-1, 3});  // x.squeeze(0), as PyTorch exports it
  squeeze.size(0, "n").number("one", 1).then("Equal", {"n_number", "one"}, "alone").then("If", {"alone"}, "y");
  for (const auto& [name, op] : {std::pair{"then_branch", "Squeeze"}, std::pair{"else_branch", "Identity"}}) {
    onnx::GraphProto& branch = *squeeze.attribute(name, onnx::AttributeProto::GRAPH).mutable_g();
    onnx::NodeProto& node = *branch.add_node();
    node.set_op_type(op);
    node.add_input("x");
    if (node.op_type() == "Squeeze") node.add_input("n_zero");
    node.add_output(op);
    branch.add_output()->set_name(op);
  }
  expect_needs_shape(squeeze);
  EXPECT_EQ(computed(squeeze, {1, 3}).shape(), Shape{3});
  EXPECT_EQ(computed(squeeze, {2, 3}).shape(), (Shape{2, 3}));

  ShapeModel choice({-1, 3});  // where(n > 1, x, 0)
  choice.size(0, "n").number("one", 1).initializer("zero", OnnxModel::floats({}, {0}));
  choice.then("Greater", {"n_number", "one"}, "many").then("Where", {"many", "x", "zero"}, "y");
  expect_needs_shape(choice);
  EXPECT_THAT(values_of<float>(computed(choice, {1, 3})), ElementsAre(0, 0, 0));
  EXPECT_THAT(values_of<float>(computed(choice, {2, 3})), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(OnnxImages, PadsSlicesAndGroups) {
  ShapeModel pad({-1, 3});  // to a multiple of 4 rows
  pad.size(0, "n").list("four", {4}).list("before", {0, 0}).list("after", {0}).then("Neg", {"n"}, "minus");
  pad.then("Mod", {"minus", "four"}, "rest")
      .concat({"before", "rest", "after"}, "pads")
      .then("Pad", {"x", "pads"}, "y");
  expect_needs_shape(pad);
  EXPECT_EQ(computed(pad, {5, 3}).shape(), (Shape{8, 3}));
  EXPECT_EQ(computed(pad, {4, 3}).shape(), (Shape{4, 3}));

  ShapeModel positions({-1, 1});  // x + table[:min(n, 4)]
  positions.size(0, "n")
      .list("four", {4})
      .list("start", {0})
      .initializer("table", OnnxModel::floats({4, 1}, {1, 2, 3, 4}));
  positions.then("Min", {"n", "four"}, "end").then("Slice", {"table", "start", "end"}, "some");
  positions.then("Add", {"x", "some"}, "y");
  expect_needs_shape(positions);
  EXPECT_THAT(values_of<float>(computed(positions, {1, 1})), ElementsAre(2));
  EXPECT_THAT(values_of<float>(computed(positions, {3, 1})), ElementsAre(2, 4, 6));

  ShapeModel groups({-1, 3});  // as in StyleGAN: groups of at most 4 images
  groups.size(0, "n").list("four", {4}).list("rest", {-1, 3}).then("Min", {"n", "four"}, "group");
  groups.concat({"group", "rest"}, "to").then("Reshape", {"x", "to"}, "y");
  expect_needs_shape(groups);
  EXPECT_EQ(computed(groups, {2, 3}).shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(computed(groups, {8, 3}).shape(), (Shape{4, 2, 3}));

  ShapeModel few({-1, 3});  // reads a size of x[:4]
  few.list("start", {0}).list("end", {4}).then("Slice", {"x", "start", "end"}, "some").then("Shape", {"some"}, "sizes");
  few.list("first", {0}).list("to", {-1, 1}).then("Gather", {"sizes", "first"}, "rows").concat({"rows", "to"}, "all");
  few.then("Reshape", {"some", "all"}, "y");
  expect_needs_shape(few);
  EXPECT_EQ(computed(few, {2, 3}).shape(), (Shape{2, 3, 1}));
  EXPECT_EQ(computed(few, {9, 3}).shape(), (Shape{4, 3, 1}));

  ShapeModel range({-1, 3});  // Range(n, n + 2)
  range.size(0, "n").number("two", 2).number("one", 1).then("Add", {"n_number", "two"}, "end").list("column", {2, 1});
  range.then("Range", {"n_number", "end", "one"}, "numbers").then("Cast", {"numbers"}, "real");
  range.attribute_of_last("to", Proto::FLOAT)
      .then("Reshape", {"real", "column"}, "rows")
      .then("Add", {"x", "rows"}, "y");
  expect_needs_shape(range);
  EXPECT_THAT(values_of<float>(computed(range, {2, 3})), ElementsAre(3, 4, 5, 7, 8, 9));
}

TEST(OnnxImages, TheFirstSizeMayBeAnother) {
  ShapeModel model({-1, -1, 2});  // crops an image to a square in its center
  model.list("hw", {0, 1})
      .list("two", {2})
      .then("Gather", {"shape", "hw"}, "sizes")
      .then("ReduceMin", {"sizes"}, "side");
  model.then("Sub", {"sizes", "side"}, "more")
      .then("Div", {"more", "two"}, "begin")
      .then("Add", {"begin", "side"}, "end");
  model.then("Slice", {"x", "begin", "end", "hw"}, "y");
  expect_needs_shape(model);
  EXPECT_THAT(values_of<float>(computed(model, {1, 3, 2})), ElementsAre(3, 4));
  EXPECT_THAT(values_of<float>(computed(model, {3, 1, 2})), ElementsAre(3, 4));
  EXPECT_EQ(computed(model, {6, 4, 2}).shape(), (Shape{4, 4, 2}));
  ShapeModel unnamed({-1, -1, 2});  // the shape is given without the input's name
  unnamed.size(0, "h").list("rest", {-1}).concat({"h", "rest"}, "to").then("Reshape", {"x", "to"}, "y");
  EXPECT_EQ(import_onnx(unnamed.bytes(), "test.onnx", {.input_shapes = {{"", {3, 5, 2}}}}).inputs[0].shape,
            (Shape{-1, 5, 2}));
}

TEST(OnnxImages, WhatIsLinearStaysOpen) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  ShapeModel view({-1, 4});  // x.view(min(max(n, 1), most) * 4 / 2 - n, -1)
  view.size(0, "n").list("one", {1}).list("two", {2}).list("four", {4}).list("most", {kMost}).list("rest", {-1});
  view.then("Max", {"n", "one"}, "a").then("Min", {"a", "most"}, "b").then("Mul", {"b", "four"}, "c");
  view.then("Div", {"c", "two"}, "d")
      .then("Sub", {"d", "n"}, "e")
      .concat({"e", "rest"}, "to")
      .then("Reshape", {"x", "to"}, "y");
  expect_open(view, {3, 4});
  EXPECT_EQ(only<ReshapeOp>(view.graph()).shape, (Shape{0, -1}));
  ShapeModel expand({-1, 1});  // as PyTorch exports expand(-1, 4)
  expand.list("asked", {-1, 4}).list("minus", {-1}).list("ones", {1, 1}).then("Equal", {"shape", "minus"}, "kept");
  expand.then("Where", {"kept", "ones", "shape"}, "own").then("Equal", {"asked", "minus"}, "keeps");
  expand.then("Where", {"keeps", "own", "asked"}, "to").then("Expand", {"x", "to"}, "y");
  expect_open(expand, {3, 1});
  ShapeModel real({-1, 49});  // int(n * 49 / 49.0)
  real.initializer("side", OnnxModel::floats({}, {49}));
  real.list("rest", {-1}).then("Size", {"x"}, "all");
  real.then("Cast", {"all"}, "many").attribute_of_last("to", Proto::FLOAT).then("Div", {"many", "side"}, "rows");
  real.then("Cast", {"rows"}, "whole").attribute_of_last("to", Proto::INT64).list("zero", {0});
  real.then("Unsqueeze", {"whole", "zero"}, "n").concat({"n", "rest"}, "to").then("Reshape", {"x", "to"}, "y");
  expect_open(real, {3, 49});
}

}  // namespace
}  // namespace convlab
