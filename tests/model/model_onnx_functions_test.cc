// Tests model-local functions, If with a constant condition, and the list of all unsupported nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/model/import_model.h"
#include "tests/model/op_text.h"
#include "tests/support/onnx_model.h"

namespace convlab {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Proto = onnx::TensorProto;

onnx::NodeProto node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs, const std::string& domain = "") {
  onnx::NodeProto node;
  node.set_op_type(op);
  node.set_name(op + "_in");
  node.set_domain(domain);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return node;
}

onnx::AttributeProto& attribute(onnx::NodeProto& node, const char* name, onnx::AttributeProto::AttributeType type) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}

onnx::FunctionProto& function(OnnxModel& model, const std::string& name, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs) {
  onnx::FunctionProto& function = *model.proto.add_functions();
  function.set_domain("own");
  function.set_name(name);
  function.add_opset_import()->set_version(13);
  for (const std::string& input : inputs) function.add_input(input);
  for (const std::string& output : outputs) function.add_output(output);
  return function;
}

/// x -> own.NAME -> y
OnnxModel call(const std::string& name) {
  OnnxModel model(13);
  model.input("x", {-1, 3}).output("y").node(name, {"x"}, {"y"});
  model.graph().mutable_node(0)->set_domain("own");
  return model;
}

/// A function that applies LeakyRelu with the attribute "slope" as its alpha.
onnx::FunctionProto& leaky(OnnxModel& model) {
  onnx::FunctionProto& own = function(model, "Leaky", {"a"}, {"b"});
  onnx::NodeProto relu = node("LeakyRelu", {"a"}, {"b"});
  attribute(relu, "alpha", onnx::AttributeProto::FLOAT).set_ref_attr_name("slope");
  *own.add_node() = relu;
  return own;
}

float slope(const Graph& graph) { return std::get<ActivationOp>(graph.nodes.at(0).op).activation.alpha; }

TEST(OnnxFunctions, NodesStandInPlaceOfTheCall) {
  OnnxModel model = call("Twice");
  onnx::FunctionProto& own = function(model, "Twice", {"a"}, {"c"});
  *own.add_node() = node("Relu", {"a"}, {"b"});
  *own.add_node() = node("Neg", {"b"}, {"c"});
  const Graph graph = import(model);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].name, "the_node/Relu_in");
  EXPECT_EQ(name_of(graph.nodes[1].op), "Neg");
  EXPECT_EQ(graph.name_of(graph.outputs[0]), "y");
}

TEST(OnnxFunctions, AttributesAreThoseOfTheCallOrTheirDefaults) {
  OnnxModel given = call("Leaky");
  leaky(given);
  given.set("slope", 0.5f);
  EXPECT_EQ(slope(import(given)), 0.5f);
  OnnxModel absent = call("Leaky");
  leaky(absent);
  EXPECT_FLOAT_EQ(slope(import(absent)), 0.01f) << "LeakyRelu's own";
  OnnxModel defaulted = call("Leaky");
  onnx::AttributeProto& otherwise = *leaky(defaulted).add_attribute_proto();
  otherwise.set_name("slope");
  otherwise.set_type(onnx::AttributeProto::FLOAT);
  otherwise.set_f(0.25f);
  EXPECT_EQ(slope(import(defaulted)), 0.25f) << "the function's";
  defaulted.set("slope", 0.75f);
  EXPECT_EQ(slope(import(defaulted)), 0.75f);
}

TEST(OnnxFunctions, CallsMayBeNestedAndHandAttributesOn) {
  OnnxModel model = call("Outer");
  leaky(model);
  model.set("outer_slope", 0.125f);
  onnx::FunctionProto& outer = function(model, "Outer", {"p"}, {"r"});
  onnx::NodeProto first = node("Leaky", {"p"}, {"q"}, "own");
  attribute(first, "slope", onnx::AttributeProto::FLOAT).set_ref_attr_name("outer_slope");
  *outer.add_node() = first;
  *outer.add_node() = node("Leaky", {"q"}, {"r"}, "own");
  const Graph graph = import(model);
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(slope(graph), 0.125f);
  EXPECT_FLOAT_EQ(std::get<ActivationOp>(graph.nodes[1].op).activation.alpha, 0.01f) << "not the outer call's";
  EXPECT_EQ(graph.nodes[0].name, "the_node/Leaky_in/LeakyRelu_in");
}

TEST(OnnxFunctions, NamesInsideAreTheFunctionsOwn) {
  OnnxModel model = call("Hidden");
  *function(model, "Hidden", {"a"}, {"y"}).add_node() = node("Relu", {"x"}, {"y"});
  EXPECT_THAT(refusal(model), HasSubstr("'x' is not defined"));
  OnnxModel twice = call("Same");
  *function(twice, "Same", {"x"}, {"y"}).add_node() = node("Relu", {"x"}, {"y"});
  EXPECT_EQ(import(twice).nodes.size(), 1u) << "which may be those around it";
}

TEST(OnnxFunctions, InputsMayBeLeftOut) {
  OnnxModel model(13);
  model.input("x", {-1, 3}).output("y").node("Bounded", {"x", "", "high"}, {"y"});
  model.graph().mutable_node(0)->set_domain("own");
  model.initializer("high", OnnxModel::floats({}, {6}));
  *function(model, "Bounded", {"a", "low", "high"}, {"b"}).add_node() = node("Clip", {"a", "low", "high"}, {"b"});
  const Graph graph = import(model);
  EXPECT_EQ(std::get<ActivationOp>(graph.nodes.at(0).op).activation.beta, 6);
}

TEST(OnnxFunctions, RecursionIsRefused) {
  OnnxModel model = call("Again");
  *function(model, "Again", {"a"}, {"b"}).add_node() = node("Again", {"a"}, {"b"}, "own");
  EXPECT_THAT(refusal(model), HasSubstr("nested deeper than 32"));
  OnnxModel mutual = call("Here");
  *function(mutual, "Here", {"a"}, {"b"}).add_node() = node("There", {"a"}, {"b"}, "own");
  *function(mutual, "There", {"a"}, {"b"}).add_node() = node("Here", {"a"}, {"b"}, "own");
  EXPECT_THAT(refusal(mutual), HasSubstr("nested deeper than 32"));
}

TEST(OnnxFunctions, CallsThatDoubleAtEachLevelAreStopped) {
  OnnxModel model = call("Level0");
  for (int level = 0; level < 30; ++level) {
    const std::string inner = level == 29 ? "Relu" : "Level" + std::to_string(level + 1);
    onnx::FunctionProto& own = function(model, "Level" + std::to_string(level), {"a"}, {"c"});
    *own.add_node() = node(inner, {"a"}, {"b"}, level == 29 ? "" : "own");
    *own.add_node() = node(inner, {"b"}, {"c"}, level == 29 ? "" : "own");
  }
  EXPECT_THAT(refusal(model), HasSubstr("the model has more than 32768 nodes"));
}

TEST(OnnxFunctions, RefusalsNameTheNodeInside) {
  OnnxModel model = call("Odd");
  *function(model, "Odd", {"a"}, {"b"}).add_node() = node("Det", {"a"}, {"b"});
  EXPECT_THAT(refusal(model), HasSubstr("node 'the_node/Det_in' (Det, opset 13): this operator is not supported"));
  OnnxModel old = call("Old");
  onnx::FunctionProto& own = function(old, "Old", {"a"}, {"b"});
  own.mutable_opset_import(0)->set_version(6);
  *own.add_node() = node("Relu", {"a"}, {"b"});
  EXPECT_THAT(refusal(old), HasSubstr("opset version must be between 7 and 26, got 6"));
}

// ---- If ----

/// If(condition): then Relu(x) else Neg(x).
OnnxModel choice(onnx::TensorProto condition) {
  OnnxModel model(13);
  model.input("x", {-1, 3}).output("y").initializer("c", std::move(condition)).node("If", {"c"}, {"y"});
  for (const auto& [name, op] : {std::pair{"then_branch", "Relu"}, std::pair{"else_branch", "Neg"}}) {
    onnx::GraphProto& branch = *model.attribute(name, onnx::AttributeProto::GRAPH).mutable_g();
    *branch.add_node() = node(op, {"x"}, {std::string("out_") + op});
    branch.add_output()->set_name(std::string("out_") + op);
  }
  return model;
}

onnx::TensorProto truth(bool value) { return OnnxModel::raw<uint8_t>({}, Proto::BOOL, {value}); }

TEST(OnnxIf, TakesTheBranchOfAKnownCondition) {
  EXPECT_EQ(name_of(import(choice(truth(true))).nodes.at(0).op), "Relu");
  const Graph graph = import(choice(truth(false)));
  EXPECT_EQ(name_of(graph.nodes.at(0).op), "Neg");
  EXPECT_EQ(graph.nodes[0].name, "the_node/Neg_in");
}

TEST(OnnxIf, TheOtherBranchMayHoldAnything) {
  OnnxModel model = choice(truth(true));
  model.graph().mutable_node(0)->mutable_attribute(1)->mutable_g()->mutable_node(0)->set_op_type("Det");
  EXPECT_EQ(import(model).nodes.size(), 1u);
}

TEST(OnnxIf, ConditionsFromShapesAreKnown) {
  OnnxModel model(13);  // as PyTorch exports a squeeze: if x.size(1) == 1
  model.input("x", {-1, 3}).output("y").initializer("one", OnnxModel::integers({}, {1}));
  model.initializer("three", OnnxModel::integers({}, {3}));
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "one"}, {"width"}).node("Equal", {"width", "three"}, {"c"});
  const onnx::NodeProto choose = choice(truth(true)).graph().node(0);
  *model.graph().add_node() = choose;
  EXPECT_EQ(name_of(import(model).nodes.at(0).op), "Relu");
}

TEST(OnnxIf, AComputedConditionIsRefused) {
  OnnxModel model = choice(truth(true));
  model.input("flag", {}, Proto::BOOL);
  model.graph().mutable_node(0)->set_input(0, "flag");
  EXPECT_THAT(refusal(model), HasSubstr("the condition must be one constant value, not computed"));
  EXPECT_THAT(refusal(choice(OnnxModel::raw<uint8_t>({2}, Proto::BOOL, {1, 1}))),
              HasSubstr("the condition must be one"));
  OnnxModel none = choice(truth(true));
  none.graph().mutable_node(0)->mutable_attribute(0)->set_name("when");
  EXPECT_THAT(refusal(none), HasSubstr("attribute 'then_branch' is missing"));
}

TEST(OnnxIf, BranchesSeeNamesAroundThemAndKeepTheirOwn) {
  OnnxModel model = choice(truth(true));
  onnx::GraphProto& branch = *model.graph().mutable_node(0)->mutable_attribute(0)->mutable_g();
  onnx::TensorProto weight = OnnxModel::floats({3}, {1, 2, 3});
  weight.set_name("w");
  *branch.add_initializer() = weight;
  *branch.mutable_node(0) = node("Add", {"x", "w"}, {"out_Relu"});
  EXPECT_EQ(name_of(import(model).nodes.at(0).op), "Add");
  model.node("Neg", {"w"}, {"z"});
  model.output("z");
  EXPECT_THAT(refusal(model), HasSubstr("'w' is not defined"));
}

// ---- All unsupported nodes at once ----

TEST(OnnxRefusals, AllAreListedAndWhatNeedsThemIsNot) {
  OnnxModel model(13);
  model.input("x", {-1, 3}).output("y");
  model.node("Det", {"x"}, {"a"}).node("LSTM", {"x"}, {"b"}).node("Relu", {"a"}, {"c"}).node("NonZero", {"x"}, {"d"});
  model.node("Add", {"c", "b"}, {"y"});
  const std::string message = refusal(model);
  EXPECT_THAT(message,
              AllOf(HasSubstr("3 nodes cannot be imported:"), HasSubstr("'the_node' (Det, opset 13)"),
                    HasSubstr("'the_node_2' (LSTM, opset 13): recurrent networks"), HasSubstr("'the_node_4' (NonZero"),
                    Not(HasSubstr("the_node_3")), Not(HasSubstr("the_node_5"))));
}

TEST(OnnxRefusals, ALongListIsCut) {
  OnnxModel model(13);
  model.input("x", {-1, 3}).output("y0");
  for (int i = 0; i < 60; ++i) model.node("Det", {"x"}, {"y" + std::to_string(i)});
  EXPECT_THAT(refusal(model), AllOf(HasSubstr("60 nodes cannot be imported"), HasSubstr("the_node_50'"),
                                    Not(HasSubstr("the_node_51'")), HasSubstr("and 10 more")));
}

TEST(OnnxRefusals, KindsOfNetworksAreNamed) {
  const auto why = [](const std::string& op) {
    OnnxModel model(13);
    return refusal(model.input("x", {-1, 3}).output("y").node(op, {"x"}, {"y"}));
  };
  EXPECT_THAT(why("GRU"), HasSubstr("recurrent networks"));
  EXPECT_THAT(why("Loop"), HasSubstr("loops"));
  EXPECT_THAT(why("SequenceAt"), HasSubstr("sequences"));
  EXPECT_THAT(why("NonMaxSuppression"), HasSubstr("detection post-processing"));
  EXPECT_THAT(why("StringNormalizer"), HasSubstr("text operators are not supported"));
}

}  // namespace
}  // namespace convlab
