// Tests import of ONNX Runtime's own quantized operators, and reasons to reject them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "tests/model/import_model.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kU8 = onnx::TensorProto::UINT8, kI8 = onnx::TensorProto::INT8, kI32 = onnx::TensorProto::INT32;

onnx::TensorProto scale(float value) { return OnnxModel::floats({}, {value}); }
onnx::TensorProto level(uint8_t value) { return OnnxModel::raw<uint8_t>({}, kU8, {value}); }

/// Adds a node from ONNX Runtime's domain, com.microsoft.
void add_microsoft(OnnxModel& model, const std::string& op, const std::vector<std::string>& inputs) {
  model.proto.clear_opset_import();
  model.proto.add_opset_import()->set_version(17);
  auto& domain = *model.proto.add_opset_import();
  domain.set_domain("com.microsoft");
  domain.set_version(1);
  model.node(op, inputs, {"y"});
  model.graph().mutable_node(model.graph().node_size() - 1)->set_domain("com.microsoft");
  model.output("y");
}

/// Two uint8 inputs, with scales sa = 0.5, sb = 0.25, sy = 2 and zero points za = 3, zb = 4, zy = 5.
OnnxModel arrays() {
  OnnxModel model(17);
  model.input("a", {-1, 4, 6, 6}, kU8).input("b", {-1, 4, 6, 6}, kU8);
  model.initializer("sa", scale(0.5f)).initializer("sb", scale(0.25f)).initializer("sy", scale(2));
  model.initializer("za", level(3)).initializer("zb", level(4)).initializer("zy", level(5));
  return model;
}

OnnxModel with(const std::string& op, const std::vector<std::string>& inputs) {
  OnnxModel model = arrays();
  add_microsoft(model, op, inputs);
  return model;
}

std::vector<std::string> operators(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(name_of(node.op));
  return names;
}

/// Returns the first value of each constant input of a node.
std::vector<float> numbers(const Graph& graph, size_t node) {
  std::vector<float> result;
  for (const ValueId input : graph.nodes[node].inputs) {
    const auto found = graph.constants.find(input);
    if (found != graph.constants.end()) result.push_back(found->second.values<float>()[0]);
  }
  return result;
}

TEST(OnnxMicrosoft, OperatorsOfTwoArrays) {
  const std::pair<const char*, const char*> pairs[] = {{"QLinearAdd", "Add"}, {"QLinearMul", "Mul"}};
  for (const auto& [op, real] : pairs) {
    const Graph graph = import(with(op, {"a", "sa", "za", "b", "sb", "zb", "sy", "zy"}));
    ASSERT_THAT(operators(graph), ElementsAre("DequantizeLinear", "DequantizeLinear", real, "QuantizeLinear"));
    EXPECT_THAT(numbers(graph, 0), ElementsAre(0.5f, 3));
    EXPECT_THAT(numbers(graph, 1), ElementsAre(0.25f, 4));
    EXPECT_THAT(numbers(graph, 3), ElementsAre(2, 5));
  }
}

TEST(OnnxMicrosoft, ZeroPointsMayBeLeftOut) {
  const Graph graph = import(with("QLinearAdd", {"a", "sa", "", "b", "sb", "", "sy"}));
  EXPECT_THAT(numbers(graph, 0), ElementsAre(0.5f));
  EXPECT_THAT(numbers(graph, 3), ElementsAre(2));
}

TEST(OnnxMicrosoft, OperatorsOfOneArray) {
  const std::pair<const char*, const char*> pairs[] = {{"QLinearGlobalAveragePool", "GlobalAveragePool"},
                                                       {"QLinearLeakyRelu", "LeakyRelu"},
                                                       {"QLinearSigmoid", "Sigmoid"}};
  for (const auto& [op, real] : pairs) {
    const Graph graph = import(with(op, {"a", "sa", "za", "sy", "zy"}));
    EXPECT_THAT(operators(graph), ElementsAre("DequantizeLinear", real, "QuantizeLinear"));
    EXPECT_THAT(numbers(graph, 0), ElementsAre(0.5f, 3));
  }
}

TEST(OnnxMicrosoft, Concatenations) {
  OnnxModel model = with("QLinearConcat", {"sy", "zy", "a", "sa", "za", "b", "sb", "zb"});
  model.set("axis", int64_t{1});
  const Graph graph = import(model);
  ASSERT_THAT(operators(graph), ElementsAre("DequantizeLinear", "DequantizeLinear", "Concat", "QuantizeLinear"));
  EXPECT_EQ(std::get<ConcatOp>(graph.nodes[2].op).axis, 1);
  EXPECT_THAT(numbers(graph, 3), ElementsAre(2, 5));
}

/// A dense layer with 2 inputs and 3 outputs.
OnnxModel gemm(float scale_of_a = 0.5f) {
  OnnxModel model(17);
  model.input("a", {-1, 2}, kU8);
  model.initializer("w", OnnxModel::raw<int8_t>({3, 2}, kI8, {1, -2, 3, -4, 5, -6}));
  model.initializer("sw", OnnxModel::floats({3}, {1, 2, 4}));
  model.initializer("zw", OnnxModel::raw<int8_t>({3}, kI8, {0, 0, 0}));
  model.initializer("c", OnnxModel::raw<int32_t>({3}, kI32, {10, 20, -30}));
  model.initializer("sa", scale(scale_of_a)).initializer("za", level(3));
  model.initializer("sy", scale(2)).initializer("zy", level(5));
  add_microsoft(model, "QGemm", {"a", "sa", "za", "w", "sw", "zw", "c", "sy", "zy"});
  model.set("transB", int64_t{1}).set("alpha", 2.0f);
  return model;
}

TEST(OnnxMicrosoft, DenseLayers) {
  const Graph graph = import(gemm());
  ASSERT_THAT(operators(graph), ElementsAre("DequantizeLinear", "Gemm", "QuantizeLinear"));
  const auto& op = std::get<GemmOp>(graph.nodes[1].op);
  EXPECT_EQ(op.alpha, 2);
  EXPECT_TRUE(op.transpose_b);
  const auto values = [&](size_t input) { return graph.constants.at(graph.nodes[1].inputs[input]).values<float>(); };
  EXPECT_THAT(values(1), ElementsAre(1, -2, 6, -8, 20, -24));
  EXPECT_THAT(values(2), ElementsAre(10, 40, -120)) << "in units of alpha * sa * sw";
  EXPECT_TRUE(graph.whole_constants.contains(graph.nodes[1].inputs[1]));
  EXPECT_TRUE(graph.whole_constants.contains(graph.nodes[1].inputs[2]));
}

TEST(OnnxMicrosoft, WhatIsMissingIsNamed) {
  EXPECT_THAT(refusal(with("QLinearAdd", {"a", "sa", "za", "", "sb", "zb", "sy", "zy"})),
              HasSubstr("input 3 is missing"));
  EXPECT_THAT(refusal(with("QLinearAdd", {"a", "sa", "za", "b", "sb"})), HasSubstr("input 6 is missing"));
  EXPECT_THAT(refusal(with("QLinearAdd", {"a", "sa", "za", "b"})), HasSubstr("input 4 is missing"));
  EXPECT_THAT(refusal(with("QLinearSigmoid", {"a", "sa", "za"})), HasSubstr("input 3 is missing"));
  EXPECT_THAT(refusal(with("QLinearConcat", {"sy", "zy", "a", "sa"})), HasSubstr("missing"));
  EXPECT_THAT(refusal(with("QLinearConcat", {"sy", "zy", "a", "", "za"})), HasSubstr("input 3 is missing"));
  EXPECT_THAT(refusal(with("FusedGelu", {"a"})), HasSubstr("domain 'com.microsoft'"));
  OnnxModel last = with("QLinearGlobalAveragePool", {"a", "sa", "za", "sy", "zy"});
  last.set("channels_last", int64_t{1});
  EXPECT_THAT(refusal(last), HasSubstr("channels_last = 1 is not supported"));
}

TEST(OnnxMicrosoft, ScalesAreAboveZeroAndFinite) {
  for (const float value : {0.0f, -0.5f, std::numeric_limits<float>::infinity()}) {
    OnnxModel model = with("QLinearAdd", {"a", "sa", "za", "b", "wrong", "zb", "sy", "zy"});
    model.initializer("wrong", scale(value));
    EXPECT_THAT(refusal(model), HasSubstr("scale 'wrong' must be positive and finite")) << value;
    EXPECT_THAT(refusal(gemm(value)), HasSubstr("scale 'sa' must be positive and finite")) << value;
  }
  EXPECT_THAT(refusal(gemm(std::numeric_limits<float>::quiet_NaN())), HasSubstr("'sa': weights contain NaN"));
}

TEST(OnnxMicrosoft, ZeroPointsAreOfTheirArraysType) {
  OnnxModel model = with("QLinearAdd", {"a", "sa", "below", "b", "sb", "zb", "sy", "zy"});
  model.initializer("below", OnnxModel::raw<int8_t>({}, kI8, {-7}));
  EXPECT_THAT(refusal(model), HasSubstr("input types must match: zero point 'below' is int8, 'a' is uint8"));
}

/// QLinearConv and DequantizeLinear are standard ONNX operators.
TEST(OnnxMicrosoft, OnnxsOwnAreCheckedAlike) {
  const auto conv = [](float scale_of_a, const onnx::TensorProto& zero_of_a) {
    OnnxModel model(17);
    model.input("a", {-1, 2, 5, 5}, kU8).output("y");
    model.initializer("sa", scale(scale_of_a)).initializer("za", zero_of_a);
    model.initializer("w", OnnxModel::raw<int8_t>({1, 2, 1, 1}, kI8, {1, -2})).initializer("sw", scale(1));
    model.initializer("zw", OnnxModel::raw<int8_t>({}, kI8, {0}))
        .initializer("sy", scale(2))
        .initializer("zy", level(5));
    model.node("QLinearConv", {"a", "sa", "za", "w", "sw", "zw", "sy", "zy"}, {"y"});
    return model;
  };
  EXPECT_THAT(operators(import(conv(0.5f, level(3)))), ElementsAre("QLinearConv"));
  EXPECT_THAT(refusal(conv(0, level(3))), HasSubstr("scale 'sa' must be positive and finite, got 0"));
  EXPECT_THAT(refusal(conv(0.5f, OnnxModel::raw<int8_t>({}, kI8, {-7}))), HasSubstr("zero point 'za' is int8"));
  OnnxModel dequantize(17);
  dequantize.input("a", {-1, 2, 5, 5}, kU8).output("y").initializer("sa", scale(1));
  dequantize.initializer("za", OnnxModel::raw<int32_t>({}, kI32, {300}));
  dequantize.node("DequantizeLinear", {"a", "sa", "za"}, {"y"});
  EXPECT_THAT(refusal(dequantize), HasSubstr("zero point 'za' is int32, 'a' is uint8"));
}

}  // namespace
}  // namespace convlab
