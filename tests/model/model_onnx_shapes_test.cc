// Tests shape arithmetic in models: it is evaluated at import, with the number of images left dynamic.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "convlab/model/onnx/reading/known_values.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "tests/model/import_model.h"
#include "tests/model/op_text.h"
#include "tests/model/shape_model.h"
#include "tests/support/onnx_model.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Proto = onnx::TensorProto;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kMost = std::numeric_limits<int64_t>::max();

TEST(OnnxShapes, ViewsOfEachImageKeepTheBatchOpen) {
  ShapeModel view;  // x.view(x.size(0), -1)
  view.size(0, "n").list("rest", {-1}).concat({"n", "rest"}, "to").then("Reshape", {"x", "to"}, "y");
  EXPECT_EQ(only<ReshapeOp>(view.graph()).shape, (Shape{0, -1}));
  ShapeModel parts;  // x.view(x.size(0), 2, x.size(1) // 2, x.size(2) * x.size(3))
  parts.size(0, "n").size(1, "c").size(2, "h").size(3, "w").list("two", {2});
  parts.then("Div", {"c", "two"}, "half").then("Mul", {"h", "w"}, "pixels");
  parts.concat({"n", "two", "half", "pixels"}, "to").then("Reshape", {"x", "to"}, "y");
  EXPECT_EQ(only<ReshapeOp>(parts.graph()).shape, (Shape{0, 2, 2, 36}));
  ShapeModel flat;  // x.view(x.size(0) * x.size(1), 36): the batch becomes -1
  flat.size(0, "n").size(1, "c").then("Mul", {"n", "c"}, "rows").list("rest", {36});
  flat.concat({"rows", "rest"}, "to").then("Reshape", {"x", "to"}, "y");
  EXPECT_EQ(only<ReshapeOp>(flat.graph()).shape, (Shape{-1, 36}));
}

TEST(OnnxShapes, StretchesOfAShape) {
  ShapeModel model;
  model.then("Shape", {"x"}, "front").attribute_of_last("start", 0).attribute_of_last("end", -2);
  model.list("rest", {-1}).concat({"front", "rest"}, "to").then("Reshape", {"x", "to"}, "y");
  EXPECT_EQ(only<ReshapeOp>(model.graph()).shape, (Shape{0, 4, -1}));
  ShapeModel past;
  past.then("Shape", {"x"}, "none").attribute_of_last("start", 3).attribute_of_last("end", 1);
  past.list("to", {0, -1}).concat({"none", "to"}, "all").then("Reshape", {"x", "all"}, "y");
  EXPECT_EQ(only<ReshapeOp>(past.graph()).shape, (Shape{0, -1})) << "an empty stretch";
}

TEST(OnnxShapes, ExpandKeepsTheBatchWhereTheInputHasIt) {
  ShapeModel model({-1, 1, 6, 6});
  model.size(0, "n").list("rest", {4, 6, 6}).concat({"n", "rest"}, "to").then("Expand", {"x", "to"}, "y");
  EXPECT_EQ(only<ExpandOp>(model.graph()).shape, (Shape{-1, 4, 6, 6}));
}

/// Expects an Expand that makes `per_image` copies for each image of the model's input.
void expect_for_each_image(const Graph& graph, const Shape& shape, int64_t per_image = 1) {
  const auto node =
      std::ranges::find_if(graph.nodes, [](const Node& each) { return std::holds_alternative<ExpandOp>(each.op); });
  ASSERT_NE(node, graph.nodes.end());
  EXPECT_EQ(std::get<ExpandOp>(node->op).shape, shape);
  EXPECT_EQ(std::get<ExpandOp>(node->op).per_image, per_image);
  EXPECT_EQ(node->inputs.at(1), graph.inputs[0].value);
}

constexpr int64_t kImages = ExpandOp::kImages;

TEST(OnnxShapes, EachImageGetsACopy) {
  ShapeModel token({-1, 3});  // token.expand(n, 3)
  token.initializer("cls", OnnxModel::floats({1, 3}, {1, 2, 3}));
  token.size(0, "n").list("rest", {3}).concat({"n", "rest"}, "to").then("Expand", {"cls", "to"}, "many");
  token.then("Add", {"x", "many"}, "y");
  expect_for_each_image(token.graph(), {kImages, 3});
  ShapeModel windows({-1, 3});  // two for each image
  windows.initializer("cls", OnnxModel::floats({1, 3}, {1, 2, 3}));
  windows.list("two", {2}).list("rest", {3});
  windows.size(0, "n").then("Mul", {"n", "two"}, "many").concat({"many", "rest"}, "to");
  windows.then("Expand", {"cls", "to"}, "all").concat({"all", "x"}, "y");
  expect_for_each_image(windows.graph(), {kImages, 3}, 2);
  ShapeModel more({-1, 3});
  more.initializer("cls", OnnxModel::floats({1, 3}, {1, 2, 3}));
  more.list("one", {1}).list("rest", {3});
  more.size(0, "n").then("Add", {"n", "one"}, "many").concat({"many", "rest"}, "to");
  more.then("Expand", {"cls", "to"}, "all").concat({"all", "x"}, "y");
  EXPECT_THAT(more.refusal(), HasSubstr("depends on the batch size but is not a multiple of it"));
}

TEST(OnnxShapes, ConstantsForEachImage) {
  ShapeModel zeros({-1, 3});
  zeros.size(0, "n").list("rest", {3}).concat({"n", "rest"}, "to").then("ConstantOfShape", {"to"}, "many");
  zeros.concat({"many", "x"}, "y");
  const Graph graph = zeros.graph();
  expect_for_each_image(graph, {kImages, 3});
  EXPECT_EQ(graph.constants.at(graph.nodes[0].inputs[0]).shape(), (Shape{1, 3}));
}

TEST(OnnxShapes, TilesForEachImage) {
  ShapeModel rows({-1, 3});  // rows.repeat(n, 2)
  rows.initializer("rows", OnnxModel::ones({4, 3}));
  rows.list("two", {2}).size(0, "n").concat({"n", "two"}, "times").then("Tile", {"rows", "times"}, "y");
  const Graph graph = rows.graph();
  expect_for_each_image(graph, {kImages, 1, 1});
  EXPECT_EQ(infer_shapes(graph, Shape{5, 3})[static_cast<size_t>(graph.outputs[0].value)], (Shape{20, 6}));
}

TEST(OnnxShapes, TheRestOfAReshapeIsWorkedOutWhereTheBatchIsMultiplied) {
  ShapeModel model;  // x.view(n * 4, 36, -1)
  model.size(0, "n").size(1, "c").then("Mul", {"n", "c"}, "rows").list("rest", {36, -1});
  model.concat({"rows", "rest"}, "to").then("Reshape", {"x", "to"}, "y");
  EXPECT_EQ(only<ReshapeOp>(model.graph()).shape, (Shape{-1, 36, 1}));
}

TEST(OnnxShapes, OneHotListsAreRepeats) {
  ShapeModel model({-1, 4});  // x.repeat_interleave(3, 1), as PyTorch exports it: all repeats are 1, except the last
  model.list("where", {-1}).number("depth", 2).list("values", {1, 3}).list("flat", {-1});
  model.then("OneHot", {"where", "depth", "values"}, "rows").then("Reshape", {"rows", "flat"}, "repeats");
  model.then("Tile", {"x", "repeats"}, "y");
  EXPECT_THAT(only<TileOp>(model.graph()).repeats, ElementsAre(1, 3));
  ShapeModel none({-1, 4});
  none.list("where", {-3}).number("depth", 2).list("values", {1, 3}).list("flat", {-1});
  none.then("OneHot", {"where", "depth", "values"}, "rows").then("Reshape", {"rows", "flat"}, "repeats");
  none.then("Tile", {"x", "repeats"}, "y");
  EXPECT_THAT(only<TileOp>(none.graph()).repeats, ElementsAre(1, 1));
}

TEST(OnnxShapes, GatheringAllInOrderIsAReshape) {
  const auto strided = [](int64_t stride) {  // flat.as_strided((n, 4), (stride, 1))
    ShapeModel model({-1, 4});
    model.size(0, "n").list("zero", {0}).number("first", 0).number("one", 1).list("all", {-1}).list("stride", {stride});
    model.then("Squeeze", {"n", "zero"}, "count").then("Range", {"first", "count", "one"}, "range");
    model.then("Mul", {"range", "stride"}, "begins").list("axis", {1}).then("Unsqueeze", {"begins", "axis"}, "rows");
    model.initializer("columns", OnnxModel::integers({1, 4}, {0, 1, 2, 3}));
    model.then("Add", {"rows", "columns"}, "places");
    return model.then("Reshape", {"x", "all"}, "flat").then("Gather", {"flat", "places"}, "y");
  };
  const Graph graph = strided(4).graph();
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(std::get<ReshapeOp>(graph.nodes[1].op).shape, (Shape{-1, 4}));
  EXPECT_THAT(strided(2).refusal(), HasSubstr("depends only on the batch size; using it as data"));
}

TEST(OnnxShapes, SliceEndsMayBeTheBatch) {
  ShapeModel whole;
  whole.size(0, "n").list("start", {0}).list("axis", {0}).then("Slice", {"x", "start", "n", "axis"}, "y");
  EXPECT_THAT(only<SliceOp>(whole.graph()).ends, ElementsAre(kMost));
  ShapeModel half;
  half.size(0, "n").list("two", {2}).then("Div", {"n", "two"}, "half").list("start", {0}).list("axis", {0});
  half.then("Slice", {"x", "start", "half", "axis"}, "y");
  EXPECT_THAT(half.refusal(), HasSubstr("the result is not a linear function of the batch size"));
  ShapeModel rows;
  rows.size(2, "h").list("two", {2}).then("Div", {"h", "two"}, "half").list("start", {0}).list("axis", {2});
  rows.then("Slice", {"x", "start", "half", "axis"}, "y");
  EXPECT_THAT(only<SliceOp>(rows.graph()).ends, ElementsAre(3));
}

TEST(OnnxShapes, WhatDependsOnTheBatchAloneIsNotComputedWith) {
  ShapeModel model;
  model.size(0, "n").then("Cast", {"n"}, "f").attribute_of_last("to", Proto::FLOAT).then("Mul", {"x", "f"}, "y");
  EXPECT_THAT(model.refusal(), HasSubstr("depends only on the batch size; using it as data"));
  ShapeModel gone;  // the batch size cancels, so the result is constant
  gone.size(0, "n").then("Sub", {"n", "n"}, "zero").then("Cast", {"zero"}, "f").attribute_of_last("to", Proto::FLOAT);
  gone.then("Add", {"x", "f"}, "y");
  EXPECT_EQ(gone.graph().nodes.size(), 1u);
}

TEST(OnnxShapes, OpenImagesAreRefusedUntilTheirShapeIsGiven) {
  ShapeModel model({-1, 4, -1, -1});
  model.size(2, "h").list("front", {0, -1}).concat({"front", "h"}, "to").then("Reshape", {"x", "to"}, "y");
  EXPECT_THAT(model.refusal(), HasSubstr("the shape of input 'x' is unknown"));
  const Graph graph = import_onnx(model.bytes(), "test.onnx", {.input_shapes = {{"x", {2, 4, 8, 8}}}});
  EXPECT_EQ(only<ReshapeOp>(graph).shape, (Shape{0, -1, 8}));
}

TEST(OnnxShapes, ArithmeticThatDoesNotWorkOutIsRefused) {
  ShapeModel zero;
  zero.size(1, "c").list("none", {0}).then("Div", {"c", "none"}, "q").then("Reshape", {"x", "q"}, "y");
  EXPECT_THAT(zero.refusal(), HasSubstr("division by zero: 4 / 0"));
  ShapeModel large;
  large.size(1, "c").list("most", {kMost}).then("Mul", {"c", "most"}, "q").then("Reshape", {"x", "q"}, "y");
  EXPECT_THAT(large.refusal(), HasSubstr("overflow"));
  ShapeModel range;
  range.number("zero", 0).number("nine", 9).then("Range", {"zero", "nine", "zero"}, "r");
  range.then("Reshape", {"x", "r"}, "y");
  EXPECT_THAT(range.refusal(), HasSubstr("too long or infinite"));
  ShapeModel huge;
  huge.list("s", {1 << 15, 1 << 15}).then("ConstantOfShape", {"s"}, "c").then("MatMul", {"x", "c"}, "y");
  EXPECT_THAT(huge.refusal(), HasSubstr("1073741824 elements"));
}

TEST(OnnxShapes, ChoicesAndComparisons) {
  ShapeModel model;  // Where(shape == -1, ones, shape), as PyTorch exports expand
  model.list("asked", {-1, 4, 6, 6}).list("minus", {-1}).then("Equal", {"asked", "minus"}, "kept");
  model.then("Where", {"kept", "shape", "asked"}, "to").then("Reshape", {"x", "to"}, "y");
  EXPECT_EQ(only<ReshapeOp>(model.graph()).shape, (Shape{0, 4, 6, 6}));
}

TEST(OnnxShapes, TypesOfConstantsAreChecked) {
  ShapeModel choice;  // all of these operators could be evaluated at import
  choice.initializer("c", OnnxModel::raw<uint8_t>({2}, Proto::BOOL, {0, 1}));
  choice.initializer("f", OnnxModel::floats({2}, {1, 2}));
  choice.list("w", {3, 4}).then("Where", {"c", "f", "w"}, "to");
  choice.then("Add", {"x", "to"}, "y");
  EXPECT_THAT(choice.refusal(), HasSubstr("input types must match: 'f' is float32, 'w' is int64"));
  ShapeModel index;
  index.initializer("f", OnnxModel::floats({1}, {1}));
  index.then("Gather", {"shape", "f"}, "c").then("Reshape", {"x", "c"}, "y");
  EXPECT_THAT(index.refusal(), HasSubstr("indices 'f' must be int64 or int32, got float32"));
}

// ---- known_result() directly ----

std::optional<Tensor> known(const Op& op, const std::vector<Tensor>& operands) {
  std::vector<const Tensor*> pointers;
  for (const Tensor& each : operands) pointers.push_back(&each);
  return known_result(op, pointers);
}

Tensor whole(const std::vector<int64_t>& values) { return Tensor::of<int64_t>({std::ssize(values)}, values); }

std::vector<Tensor> pair(int64_t a, int64_t b) {
  std::vector<Tensor> operands;
  operands.push_back(whole({a}));
  operands.push_back(whole({b}));
  return operands;
}

int64_t of_two(const Op& op, int64_t a, int64_t b) {
  const std::optional<Tensor> result = known(op, pair(a, b));
  EXPECT_TRUE(result.has_value());
  return converted(*result, ElementType::i64).values<int64_t>()[0];
}

TEST(KnownValues, WholeNumbersAreExactOrRefused) {
  const auto binary = [](BinaryKind kind) { return Op{BinaryOp{kind}}; };
  EXPECT_EQ(of_two(AddOp{}, (int64_t{1} << 53) + 1, 1), (int64_t{1} << 53) + 2) << "beyond float64";
  EXPECT_EQ(of_two(binary(BinaryKind::divide), -7, 2), -3) << "towards 0";
  EXPECT_EQ(of_two(binary(BinaryKind::modulo), -7, 3), 2) << "the divisor's sign";
  EXPECT_EQ(of_two(binary(BinaryKind::modulo), 7, -3), -2);
  EXPECT_EQ(of_two(binary(BinaryKind::modulo), kLeast, -1), 0);
  EXPECT_EQ(of_two(binary(BinaryKind::fmod), -7, 3), -1) << "the dividend's";
  EXPECT_EQ(of_two(binary(BinaryKind::power), 3, 4), 81);
  EXPECT_EQ(of_two(binary(BinaryKind::power), -1, kMost), -1) << "at once";
  EXPECT_EQ(of_two(binary(BinaryKind::power), 0, kMost), 0);
  EXPECT_EQ(of_two(binary(BinaryKind::less_equal), 3, 3), 1);
  const auto refusal = [&](const Op& op, int64_t a, int64_t b) {
    return bad_input_message([&] { known(op, pair(a, b)); });
  };
  EXPECT_THAT(refusal(AddOp{}, kMost, 1), HasSubstr("overflow"));
  EXPECT_THAT(refusal(MulOp{}, kMost, 2), HasSubstr("overflow"));
  EXPECT_THAT(refusal(binary(BinaryKind::subtract), kLeast, 1), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(refusal(binary(BinaryKind::divide), kLeast, -1), HasSubstr("does not fit in 64 bits"));
  EXPECT_THAT(refusal(binary(BinaryKind::divide), 1, 0), HasSubstr("division by zero: 1 / 0"));
  EXPECT_THAT(refusal(binary(BinaryKind::modulo), 1, 0), HasSubstr("division by zero: 1 % 0"));
  EXPECT_THAT(refusal(binary(BinaryKind::fmod), 1, 0), HasSubstr("division by zero: 1 / 0"));
  EXPECT_THAT(refusal(binary(BinaryKind::power), 10, 40), HasSubstr("overflow"));
  EXPECT_THAT(refusal(binary(BinaryKind::power), 10, -1),
              HasSubstr("exponent of an integer power must be >= 0, got -1"));
}

TEST(KnownValues, OneNumber) {
  const auto of = [](UnaryKind kind, int64_t value) {
    std::vector<Tensor> operands;
    operands.push_back(whole({value}));
    return converted(*known(UnaryOp{kind}, operands), ElementType::i64).values<int64_t>()[0];
  };
  EXPECT_EQ(of(UnaryKind::neg, 5), -5);
  EXPECT_EQ(of(UnaryKind::abs, -5), 5);
  EXPECT_EQ(of(UnaryKind::logical_not, 5), 0);
  EXPECT_EQ(of(UnaryKind::to_bool, -5), 1);
  EXPECT_THAT(bad_input_message([&] { of(UnaryKind::neg, kLeast); }), HasSubstr("64 bits"));
  EXPECT_THAT(bad_input_message([&] { of(UnaryKind::abs, kLeast); }), HasSubstr("64 bits"));
}

TEST(KnownValues, AlongAxesAndByIndices) {
  const auto values = [](const Op& op, std::vector<Tensor> operands) {
    const Tensor result = converted(*known(op, operands), ElementType::i64);
    return std::vector<int64_t>(result.values<int64_t>().begin(), result.values<int64_t>().end());
  };
  const auto list = [](const std::vector<int64_t>& numbers) {
    std::vector<Tensor> operands;
    operands.push_back(whole(numbers));
    return operands;
  };
  EXPECT_THAT(values(ReduceOp{.kind = ReduceKind::prod}, list({2, 3, 7})), ElementsAre(42));
  EXPECT_THAT(values(ReduceOp{.kind = ReduceKind::min}, list({2, -3, 7})), ElementsAre(-3));
  EXPECT_THAT(bad_input_message([&] {
                values(ReduceOp{.kind = ReduceKind::prod}, list({kMost, 2}));
              }),
              HasSubstr("overflow"));
  EXPECT_THAT(values(SliceOp{.starts = {-1}, .ends = {kLeast}, .axes = {0}, .steps = {-2}}, list({1, 2, 3, 4, 5})),
              ElementsAre(5, 3, 1));
  std::vector<Tensor> gather = list({10, 20, 30});
  gather.push_back(whole({-1, 0}));
  EXPECT_THAT(values(GatherOp{}, std::move(gather)), ElementsAre(30, 10));
  std::vector<Tensor> beyond = list({10, 20, 30});
  beyond.push_back(whole({3}));
  EXPECT_THAT(bad_input_message([&] { values(GatherOp{}, std::move(beyond)); }), HasSubstr("index 3 is out of range"));
}

}  // namespace
}  // namespace convlab
