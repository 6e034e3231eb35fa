// Tests the parts of an ONNX file other than its operators: tensors, inputs, outputs, names, order and damaged files.

#include "convlab/model/onnx/reading/onnx_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "convlab/base/half.h"
#include "convlab/model/graph_limits.h"
#include "tests/model/import_model.h"
#include "tests/support/onnx_model.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;
using testing::StartsWith;
using Proto = onnx::TensorProto;

/// x (N x 2) + w -> y
OnnxModel add(onnx::TensorProto w, int type = OnnxModel::kFloat) {
  OnnxModel model(13);
  model.input("x", {-1, 2}, type).output("y").initializer("w", std::move(w)).node("Add", {"x", "w"}, {"y"});
  return model;
}

/// x -> Relu -> y
OnnxModel relu() {
  OnnxModel model(13);
  model.input("x", {-1, 2}).output("y").node("Relu", {"x"}, {"y"});
  return model;
}

std::vector<float> weights(const Graph& graph) {
  EXPECT_EQ(graph.constants.size(), 1u);
  const auto values = graph.constants.begin()->second.values<float>();
  return {values.begin(), values.end()};
}

TEST(OnnxTensor, RawAndTypedGiveTheSame) {
  EXPECT_THAT(weights(import(add(OnnxModel::floats({2}, {1, -2})))), ElementsAre(1, -2));
  EXPECT_THAT(weights(import(add(OnnxModel::raw<float>({2}, Proto::FLOAT, {1, -2})))), ElementsAre(1, -2));
  const uint16_t one = float_to_half(1), minus_two = float_to_half(-2);  // the sign bit does not fit into int16_t
  onnx::TensorProto half = OnnxModel::raw<uint16_t>({2}, Proto::FLOAT16, {one, minus_two});
  EXPECT_THAT(weights(import(add(half, OnnxModel::kHalf))), ElementsAre(1, -2));
  half.clear_raw_data();
  half.add_int32_data(one);
  half.add_int32_data(minus_two);
  EXPECT_THAT(weights(import(add(half, OnnxModel::kHalf))), ElementsAre(1, -2));
}

/// Returns the constant of x + Cast(w), for w of any constant type.
std::vector<float> cast_weights(onnx::TensorProto w) {
  OnnxModel model(13);
  model.input("x", {-1, 2}).output("y").initializer("w", std::move(w));
  model.node("Cast", {"w"}, {"f"}).set("to", int64_t{Proto::FLOAT}).node("Add", {"x", "f"}, {"y"});
  return weights(import(model));
}

TEST(OnnxTensor, EveryTypeThatCanBeCast) {
  EXPECT_THAT(cast_weights(OnnxModel::raw<double>({2}, Proto::DOUBLE, {0.5, -2})), ElementsAre(0.5, -2));
  EXPECT_THAT(cast_weights(OnnxModel::raw<int64_t>({2}, Proto::INT64, {1, -2})), ElementsAre(1, -2));
  EXPECT_THAT(cast_weights(OnnxModel::raw<int32_t>({2}, Proto::INT32, {1, -2})), ElementsAre(1, -2));
  EXPECT_THAT(cast_weights(OnnxModel::raw<uint8_t>({2}, Proto::UINT8, {1, 255})), ElementsAre(1, 255));
  EXPECT_THAT(cast_weights(OnnxModel::raw<int8_t>({2}, Proto::INT8, {1, -2})), ElementsAre(1, -2));
  for (const auto type : {Proto::INT32, Proto::UINT8, Proto::INT8, Proto::BOOL}) {
    onnx::TensorProto typed = OnnxModel::raw<uint8_t>({2}, type, {});
    typed.clear_raw_data();
    typed.add_int32_data(0);
    typed.add_int32_data(1);
    EXPECT_THAT(cast_weights(typed), ElementsAre(0, 1)) << type;
  }
  onnx::TensorProto doubles = OnnxModel::raw<uint8_t>({2}, Proto::DOUBLE, {});
  doubles.clear_raw_data();
  doubles.add_double_data(0.25);
  doubles.add_double_data(3);
  EXPECT_THAT(cast_weights(doubles), ElementsAre(0.25, 3));
}

TEST(OnnxTensor, RefusesTypesAndPlaces) {
  EXPECT_THAT(refusal(add(OnnxModel::raw<uint16_t>({2}, Proto::BFLOAT16, {0, 0}))),
              HasSubstr("'x' is float32, 'w' is bfloat16"));
  EXPECT_THAT(refusal(add(OnnxModel::raw<uint8_t>({2}, 17, {0, 0}))), HasSubstr("number 17"));
  EXPECT_THAT(refusal(add(OnnxModel::raw<double>({2}, Proto::DOUBLE, {0, 0}))),
              HasSubstr("'x' is float32, 'w' is float64"));
  EXPECT_THAT(refusal(add(OnnxModel::integers({2}, {0, 0}))), HasSubstr("'x' is float32, 'w' is int64"));
  onnx::TensorProto external = OnnxModel::raw<float>({2}, Proto::FLOAT, {});
  external.clear_raw_data();
  external.set_data_location(Proto::EXTERNAL);
  external.add_external_data()->set_key("location");
  EXPECT_THAT(refusal(add(external)), HasSubstr("the data is in external file"));
  onnx::TensorProto segment = OnnxModel::ones({2});
  segment.mutable_segment()->set_begin(0);
  EXPECT_THAT(refusal(add(segment)), HasSubstr("segments"));
  onnx::TensorProto twice = OnnxModel::raw<float>({2}, Proto::FLOAT, {1, 2});
  twice.add_float_data(1);
  EXPECT_THAT(refusal(add(twice)), HasSubstr("stored twice"));
  onnx::TensorProto wide = OnnxModel::raw<uint8_t>({1}, Proto::FLOAT16, {});
  wide.clear_raw_data();
  wide.add_int32_data(65536);
  EXPECT_THAT(refusal(add(wide)), HasSubstr("element 0 (65536) does not fit in float16"));
}

TEST(OnnxTensor, RefusesShapesThatDisagreeWithTheDataBeforeAllocating) {
  EXPECT_THAT(refusal(add(OnnxModel::floats({3}, {1, 2}))), HasSubstr("shape 3 does not match the data (2 elements)"));
  EXPECT_THAT(refusal(add(OnnxModel::raw<float>({3}, Proto::FLOAT, {1, 2}))),
              HasSubstr("shape 3 of type float32 does not match the data (8 bytes)"));
  EXPECT_THAT(refusal(add(OnnxModel::raw<uint8_t>({2}, Proto::FLOAT, {1, 2}))), HasSubstr("data (2 bytes)"));
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();
  for (const Shape& shape : {Shape{kHuge}, Shape{kHuge, kHuge}, Shape{-1}, Shape{int64_t{1} << 40}, Shape{-2, -1}}) {
    EXPECT_THAT(refusal(add(OnnxModel::floats(shape, {1, 2}))), HasSubstr("initializer 'w': ")) << to_text(shape);
    EXPECT_THAT(refusal(add(OnnxModel::raw<float>(shape, Proto::FLOAT, {1}))), HasSubstr("initializer 'w': "));
  }
  EXPECT_THAT(refusal(add(OnnxModel::floats(Shape(17, 1), {1}))), HasSubstr("17 dimensions; at most 16"));
}

TEST(OnnxTensor, RefusesNaN) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(refusal(add(OnnxModel::floats({2}, {1, kNaN}))), HasSubstr("'w': weights contain NaN (element 1)"));
  EXPECT_THAT(refusal(add(OnnxModel::raw<uint16_t>({2}, Proto::FLOAT16, {0x7e00, 0}), OnnxModel::kHalf)),
              HasSubstr("weights contain NaN (element 0)"));
  EXPECT_THAT(refusal(add(OnnxModel::raw<double>({2}, Proto::DOUBLE, {0, std::nan("")}))), HasSubstr("contain NaN"));
  EXPECT_TRUE(std::isinf(weights(import(add(OnnxModel::floats({1}, {HUGE_VALF}))))[0])) << "infinity is a number";
}

TEST(OnnxImport, NamesTheInputItsShapeAndMetadata) {
  OnnxModel model(13);
  model.input("pixels", {-1, 1, 28, 28}).output("y").node("Relu", {"pixels"}, {"y"});
  auto& dimensions = *model.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  dimensions.mutable_dim(2)->set_dim_value(-1);
  dimensions.mutable_dim(3)->clear_value();
  auto& entry = *model.proto.add_metadata_props();
  entry.set_key("semester");
  entry.set_value("fa19");
  const Graph graph = import(model);
  EXPECT_EQ(graph.name, "test.onnx");
  EXPECT_EQ(graph.inputs[0].shape, (Shape{-1, 1, -1, -1}));
  EXPECT_EQ(graph.value_names[static_cast<size_t>(graph.inputs[0].value)], "pixels");
  EXPECT_EQ(graph.nodes[0].name, "the_node");
  EXPECT_EQ(graph.metadata.at("semester"), "fa19");
}

TEST(OnnxImport, RefusesInputs) {
  OnnxModel none(13), untyped = relu(), shapeless = relu(), sequence = relu(), empty = relu();
  none.output("y").initializer("w", OnnxModel::ones({2})).node("Relu", {"w"}, {"y"});
  EXPECT_THAT(refusal(none), HasSubstr("the model has no inputs"));
  untyped.graph().mutable_input(0)->clear_type();
  EXPECT_THAT(refusal(untyped), HasSubstr("input 'x': the type must be a tensor"));
  shapeless.graph().mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_THAT(refusal(shapeless), HasSubstr("the shape is missing"));
  sequence.graph().mutable_input(0)->mutable_type()->mutable_sequence_type();
  EXPECT_THAT(refusal(sequence), HasSubstr("the type must be a tensor"));
  EXPECT_THAT(refusal(OnnxModel(13).input("", {1}).output("y").node("Relu", {""}, {"y"})),
              HasSubstr("the name is empty"));
  for (const int64_t size : {int64_t{0}, int64_t{-2}}) {
    OnnxModel model(13);
    model.input("x", {1, size}).output("y").node("Relu", {"x"}, {"y"});
    EXPECT_THAT(refusal(model), HasSubstr("input 'x': sizes must be at least 1"));
  }
  OnnxModel text(13);
  text.input("x", {1}, Proto::STRING).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_THAT(refusal(text), HasSubstr("input 'x': element type string is not supported"));
}

TEST(OnnxImport, TakesSeveralInputsAndOutputsAndLeavesOutWhatIsNotUsed) {
  OnnxModel model(13);
  model.input("a", {-1, 2}).input("unused", {5}, Proto::INT64).input("b", {-1, 2});
  model.output("sum").output("twice").output("where");
  model.node("Add", {"a", "b"}, {"sum"}).node("Identity", {"sum"}, {"twice"}).node("Greater", {"a", "b"}, {"where"});
  const Graph graph = import(model);
  ASSERT_EQ(graph.inputs.size(), 2u);
  EXPECT_EQ(graph.name_of(graph.inputs[0]), "a");
  EXPECT_EQ(graph.name_of(graph.inputs[1]), "b");
  ASSERT_EQ(graph.outputs.size(), 3u);
  EXPECT_EQ(graph.name_of(graph.outputs[1]), "twice");
  EXPECT_EQ(graph.outputs[1].value, graph.outputs[0].value);
  EXPECT_EQ(graph.outputs[2].type, ElementType::u8) << "a bool";
}

TEST(OnnxImport, InitializersMayBeInputsTooOrUnused) {
  OnnxModel model = add(OnnxModel::ones({2}));
  model.input("w", {2}).initializer("unused", OnnxModel::integers({1}, {7}));
  const Graph graph = import(model);
  EXPECT_EQ(graph.constants.size(), 1u);
  EXPECT_EQ(graph.value_names[static_cast<size_t>(graph.inputs[0].value)], "x");
}

TEST(OnnxImport, RefusesOutputs) {
  OnnxModel none(13), unknown(13), input = relu(), constant(13), unconnected(13);
  EXPECT_THAT(refusal(none.input("x", {1}).node("Relu", {"x"}, {"y"})), HasSubstr("the model has no outputs"));
  EXPECT_THAT(refusal(unknown.input("x", {1}).output("z").node("Relu", {"x"}, {"y"})),
              HasSubstr("output 'z': 'z' is not defined"));
  input.graph().mutable_output(0)->set_name("x");
  EXPECT_EQ(import(input).outputs[0].value, import(input).inputs[0].value) << "a model may hand its input on";
  constant.input("x", {1}).output("w").initializer("w", OnnxModel::ones({1}));
  EXPECT_THAT(refusal(constant), HasSubstr("no output depends on any input"));
  unconnected.input("x", {1}).output("y").initializer("w", OnnxModel::ones({1})).node("Relu", {"w"}, {"y"});
  EXPECT_THAT(refusal(unconnected), HasSubstr("no output depends on any input"));
}

TEST(OnnxImport, RefusesNamesThatAreDefinedTwice) {
  OnnxModel weights = add(OnnxModel::ones({2}));
  EXPECT_THAT(refusal(weights.initializer("w", OnnxModel::ones({2}))), HasSubstr("'w': the name is defined twice"));
  EXPECT_THAT(refusal(add(OnnxModel::ones({2})).node("Relu", {"x"}, {"y"})), HasSubstr("'y' is already defined"));
  EXPECT_THAT(refusal(add(OnnxModel::ones({2})).node("Relu", {"x"}, {"w"})), HasSubstr("'w' is already defined"));
  EXPECT_THAT(refusal(add(OnnxModel::ones({2})).node("Identity", {"w"}, {"x"})), HasSubstr("'x' is already defined"));
  OnnxModel nameless = add(OnnxModel::ones({2}));
  EXPECT_THAT(refusal(nameless.initializer("", OnnxModel::ones({2}))), HasSubstr("the name is empty"));
}

TEST(OnnxImport, RefusesNodesOutOfOrder) {
  OnnxModel later(13), cycle(13);
  later.input("x", {1}).output("y").node("Relu", {"z"}, {"y"}).node("Relu", {"x"}, {"z"});
  EXPECT_THAT(refusal(later), HasSubstr("node 'the_node' (Relu, opset 13): 'z' is used before node 'the_node_2'"));
  cycle.input("x", {1}).output("y").node("Add", {"x", "y"}, {"y"});
  EXPECT_THAT(refusal(cycle), HasSubstr("form a cycle"));
}

TEST(OnnxImport, RefusesOperatorsAndDomains) {
  OnnxModel unknown(13), domain = relu(), onnx = relu(), nothing(13), nameless(13);
  unknown.input("x", {1}).output("y").node("Det", {"x"}, {"y"});
  EXPECT_THAT(refusal(unknown), StartsWith("test.onnx: node 'the_node' (Det, opset 13): this operator is not"));
  domain.graph().mutable_node(0)->set_domain("com.microsoft");
  EXPECT_THAT(refusal(domain), HasSubstr("node 'the_node' (Relu, com.microsoft): this operator of the domain 'com."));
  onnx::OperatorSetIdProto& other = *domain.proto.add_opset_import();
  other.set_domain("com.microsoft");
  other.set_version(1);
  EXPECT_THAT(refusal(domain), HasSubstr("node 'the_node' (Relu, com.microsoft opset 1): this operator of the domain"));
  onnx.graph().mutable_node(0)->set_domain("ai.onnx");
  EXPECT_EQ(import(onnx).nodes.size(), 1u);
  EXPECT_THAT(refusal(nothing.input("x", {1}).output("y").node("Relu", {"x"}, {})),
              HasSubstr("the node has no outputs"));
  nameless.input("x", {1}).output("y").node("Sigmoid", {"x", "x"}, {"y"});
  nameless.graph().mutable_node(0)->clear_name();
  EXPECT_THAT(refusal(nameless), HasSubstr("node 'Sigmoid_0' (Sigmoid, opset 13)"));
}

TEST(OnnxImport, RefusesAttributesTwiceOrOfFunctions) {
  OnnxModel twice(13), function(13);
  twice.input("x", {1}).output("y").node("LeakyRelu", {"x"}, {"y"}).set("alpha", 1.0f).set("alpha", 2.0f);
  EXPECT_THAT(refusal(twice), HasSubstr("attribute 'alpha' appears twice"));
  function.input("x", {1}).output("y").node("LeakyRelu", {"x"}, {"y"});
  function.attribute("alpha", onnx::AttributeProto::FLOAT).set_ref_attr_name("a");
  EXPECT_THAT(refusal(function), HasSubstr("refers to a function attribute"));
}

TEST(OnnxImport, RefusesOpsets) {
  OnnxModel model = relu();
  for (const int64_t opset : {int64_t{6}, int64_t{27}, int64_t{-1}, std::numeric_limits<int64_t>::max()}) {
    model.proto.mutable_opset_import(0)->set_version(opset);
    EXPECT_THAT(refusal(model), HasSubstr("opset version must be between 7 and 26"));
  }
  model.proto.mutable_opset_import(0)->set_domain("ai.onnx.ml");
  EXPECT_THAT(refusal(model), HasSubstr("the opset version is missing"));
  model.proto.add_opset_import()->set_version(21);
  EXPECT_EQ(import(model).nodes.size(), 1u);
}

TEST(OnnxImport, SparseInitializersAreRefused) {
  OnnxModel model = relu();
  model.graph().add_sparse_initializer();
  EXPECT_THAT(refusal(model), HasSubstr("sparse initializers"));
}

TEST(OnnxImport, UnusedNodesAreDropped) {
  OnnxModel model = relu();
  model.initializer("w", OnnxModel::ones({2})).node("Mul", {"x", "w"}, {"nobody"});
  const Graph graph = import(model);
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_TRUE(graph.constants.empty());
}

TEST(OnnxImport, RearrangedConstantsAreDone) {
  OnnxModel model(13);
  model.input("x", {-1, 3}).output("y");
  model.initializer("w", OnnxModel::floats({2, 3}, {1, 2, 3, 4, 5, 6}));
  model.node("Transpose", {"w"}, {"t"}).node("MatMul", {"x", "t"}, {"y"});
  const Graph graph = import(model);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.constants.begin()->second.shape(), (Shape{3, 2}));
  EXPECT_THAT(weights(graph), ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(OnnxImport, TransposesAndJoinsConstantsOfAnyRank) {
  OnnxModel model(13);
  model.input("x", {-1}).output("y");
  model.initializer("a", OnnxModel::floats({2, 1, 2}, {1, 2, 3, 4}));
  model.initializer("b", OnnxModel::floats({2, 2, 2}, {5, 6, 7, 8, 9, 10, 11, 12}));
  model.node("Concat", {"a", "b"}, {"c"}).set("axis", int64_t{-2});
  model.node("Transpose", {"c"}, {"t"}).list("perm", {2, 0, 1}).node("Add", {"x", "t"}, {"y"});
  const Graph graph = import(model);
  EXPECT_EQ(graph.constants.begin()->second.shape(), (Shape{2, 2, 3}));
  EXPECT_THAT(weights(graph), ElementsAre(1, 5, 7, 3, 9, 11, 2, 6, 8, 4, 10, 12));
  OnnxModel mixed(13);
  mixed.input("x", {-1}).output("y").initializer("a", OnnxModel::ones({1}));
  mixed.initializer("b", OnnxModel::integers({1}, {1})).node("Concat", {"a", "b"}, {"c"}).set("axis", int64_t{0});
  EXPECT_THAT(refusal(mixed.node("Add", {"x", "c"}, {"y"})),
              HasSubstr("input types must match: 'a' is float32, 'b' is int64"));
}

TEST(OnnxImport, ShapesMayBePutTogetherFromConstants) {
  OnnxModel model(13);
  model.input("x", {-1, 1, 4, 4}).output("y");
  model.initializer("zero", OnnxModel::raw<int32_t>({}, Proto::INT32, {0}));
  model.initializer("axis", OnnxModel::integers({1}, {0})).initializer("rest", OnnxModel::integers({1, 1}, {-1}));
  model.node("Cast", {"zero"}, {"zero64"}).set("to", int64_t{Proto::INT64});
  model.node("Unsqueeze", {"zero64", "axis"}, {"first"}).node("Squeeze", {"rest", "axis"}, {"last"});
  model.node("Concat", {"first", "last"}, {"shape"}).set("axis", int64_t{0});
  model.node("Identity", {"shape"}, {"same"}).node("Reshape", {"x", "same"}, {"y"});
  const Graph graph = import(model);
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(std::get<ReshapeOp>(graph.nodes[0].op).shape, (Shape{0, -1}));
  EXPECT_TRUE(graph.constants.empty());
}

TEST(OnnxImport, ConstantsThatGrowAreStopped) {
  OnnxModel model(13);
  model.input("x", {-1}).output("y").initializer("c0", OnnxModel::ones({256}));
  for (int i = 0; i < 40; ++i) {  // would grow to 2^40 kB
    const std::string from = "c" + std::to_string(i);
    model.node("Concat", {from, from}, {"c" + std::to_string(i + 1)}).set("axis", int64_t{0});
  }
  model.node("Add", {"x", "c40"}, {"y"});
  EXPECT_THAT(refusal(model), HasSubstr("far more memory than the model"));
}

TEST(OnnxImport, ConstantsThatGrowTogetherAreStopped) {
  OnnxModel model(13);  // 1 MiB, repeatedly converted to double
  model.input("x", {-1}).output("y").initializer(
      "c", OnnxModel::raw({1 << 20}, Proto::UINT8, std::vector<uint8_t>(1 << 20)));
  for (int i = 0; i < 3; ++i) {
    const std::string name = "d" + std::to_string(i);
    model.node("Cast", {"c"}, {name}).set("to", int64_t{Proto::DOUBLE});
    model.node("Cast", {name}, {"f" + std::to_string(i)}).set("to", int64_t{Proto::FLOAT});
  }
  model.node("Add", {"x", "f2"}, {"y"});
  EXPECT_THAT(refusal(model), HasSubstr("far more memory than the model"));
}

TEST(OnnxImport, ConcatenationPassesOverWhatIsEmpty) {
  OnnxModel model(13);
  model.input("x", {-1, 1}).output("y").initializer("empty", OnnxModel::floats({3, 0}, {}));
  model.initializer("c", OnnxModel::floats({3, 1}, {1, 2, 3}));
  model.node("Concat", {"empty", "c", "empty"}, {"w"}).set("axis", int64_t{1}).node("Add", {"x", "w"}, {"y"});
  EXPECT_THAT(weights(import(model)), ElementsAre(1, 2, 3));
}

TEST(OnnxImport, NumbersOfNodesAndDimensionsAreBounded) {
  OnnxModel many = relu();
  for (size_t i = 0; i < kMostNodes; ++i) *many.graph().add_node() = many.graph().node(0);
  EXPECT_THAT(refusal(many), HasSubstr("32769 nodes"));
  OnnxModel deep(13);
  deep.input("x", Shape(17, 1)).output("y").node("Relu", {"x"}, {"y"});
  EXPECT_THAT(refusal(deep), HasSubstr("17 dimensions"));
  // A long list, which many nodes could each copy.
  OnnxModel list(13);
  list.input("x", {-1}).output("y").initializer("s", OnnxModel::integers({33}, std::vector<int64_t>(33, 1)));
  EXPECT_THAT(refusal(list.node("Reshape", {"x", "s"}, {"y"})), HasSubstr("at most 32 values, got 33"));
}

TEST(OnnxImport, NamesAreSafeToPrint) {
  OnnxModel model(13);
  model.input("x\x1b[31m", {-1}).output("y\n").node("Relu", {"x\x1b[31m"}, {"y\n"});
  model.graph().mutable_node(0)->set_name("\xff name");
  const Graph graph = import(model);
  EXPECT_THAT(graph.value_names, ElementsAre("x?[31m", "y?"));
  EXPECT_EQ(graph.nodes[0].name, "? name");
  model.graph().mutable_node(0)->set_input(0, "\x1b[2J");
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("'?[2J'"), Not(HasSubstr("\x1b"))));
}

TEST(OnnxImport, RefusesWhatIsNoModel) {
  const auto refuse = [](std::vector<uint8_t> bytes) {
    return bad_input_message([&] { import_onnx(bytes, "test.onnx"); });
  };
  EXPECT_EQ(refuse({}), "test.onnx: the file is empty");
  for (const std::string_view text :
       {"<html><body>not found</body></html>", "version https://git-lfs.github.com/spec"}) {
    EXPECT_EQ(refuse({text.begin(), text.end()}),
              fmt::format("test.onnx: not an ONNX model: {} bytes of another format", text.size()));
  }
  EXPECT_EQ(refuse({8, 7}), "test.onnx: not an ONNX model: the file contains no graph");
  EXPECT_EQ(refuse({8, 7, 7}), "test.onnx: not an ONNX model: the file (3 bytes) is corrupt after byte 3");
  const std::vector<uint8_t> whole = add(OnnxModel::ones({2})).bytes();
  const std::vector<uint8_t> half(whole.begin(), whole.begin() + std::ssize(whole) / 2);
  EXPECT_THAT(refuse(half), MatchesRegex("test.onnx: the file is truncated: expected at least .* bytes, got " +
                                         std::to_string(half.size())));
  EXPECT_EQ(refuse({8}), "test.onnx: the file is truncated: expected at least 2 bytes, got 1");
  for (size_t size = 0; size < whole.size(); ++size) {  // never crashes, and never accepts a truncated model
    EXPECT_THROW(import_onnx(std::span(whole).first(size), "test.onnx"), Error) << size;
  }
}

TEST(OnnxImport, AFileIsReadAsItsBytesAre) {
  const OnnxModel model = add(OnnxModel::raw<float>({2}, Proto::FLOAT, {0.25f, -3}));
  const TemporaryFolder folder;
  write_file(folder.path() / "model.onnx", model.bytes());
  const Graph graph = import_onnx(InputFile(folder.path() / "model.onnx"), "model.onnx");
  ASSERT_EQ(graph.constants.size(), 1u);
  EXPECT_THAT(graph.constants.begin()->second.values<float>(), ElementsAre(0.25f, -3));
}

TEST(OnnxImport, PartsOfAMessageAreOne) {
  OnnxModel model = add(OnnxModel::raw<float>({2}, Proto::FLOAT, {1, 2}));
  onnx::ModelProto weights;
  weights.mutable_graph()->mutable_initializer()->Swap(model.graph().mutable_initializer());
  onnx::TensorProto other;
  other.set_raw_data(std::string(8, '\0'));
  const std::string tensor = weights.graph().initializer(0).SerializeAsString(), again = other.SerializeAsString();
  // A graph message split into two parts. The second part has the weights, and their data occurs twice.
  const auto wrapped = [](char field, const std::string& content) {
    return std::string{static_cast<char>(field << 3 | 2), static_cast<char>(content.size())} + content;
  };
  const std::string text = model.proto.SerializeAsString() + wrapped(7, wrapped(5, again + tensor));
  const Graph graph = import_onnx({reinterpret_cast<const uint8_t*>(text.data()), text.size()}, "test.onnx");
  EXPECT_THAT(graph.constants.begin()->second.values<float>(), ElementsAre(1, 2)) << "the last one counts";
}

TEST(OnnxImport, NestingIsBounded) {
  // An input whose type is a sequence of sequences, nested deeper than any stack allows.
  std::string bytes;
  const auto wrap = [&](char field) {
    std::string length;
    for (size_t size = bytes.size();; size >>= 7) {
      length += static_cast<char>(size < 128 ? size : (size & 127) | 128);
      if (size < 128) break;
    }
    bytes = std::string(1, static_cast<char>(field << 3 | 2)) + length + bytes;
  };
  for (int i = 0; i < 2000; ++i) {
    wrap(1);  // TypeProto.Sequence.elem_type
    wrap(4);  // TypeProto.sequence_type
  }
  wrap(2);   // ValueInfoProto.type
  wrap(11);  // GraphProto.input
  wrap(7);   // ModelProto.graph
  EXPECT_THAT(bad_input_message([&] {
                import_onnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "test.onnx");
              }),
              HasSubstr("not an ONNX model"));
}

}  // namespace
}  // namespace convlab
