// Tests export of graphs to ONNX: reimported models compute the same bits.

#include "convlab/model/onnx/writing/onnx_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>

#include "convlab/base/file.h"
#include "convlab/device/cpu.h"
#include "convlab/engine/engine.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/reading/onnx_import.h"
#include "convlab/tensor/npy.h"
#include "tests/support/onnx_model.h"
#include "tests/support/paths.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Graph again(const Graph& graph) { return import_onnx(export_onnx(graph), "again.onnx"); }

onnx::ModelProto exported(const Graph& graph) {
  const std::vector<uint8_t> bytes = export_onnx(graph);
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
  return model;
}

std::vector<std::string> operators(const onnx::ModelProto& model) {
  std::vector<std::string> types;
  for (const auto& node : model.graph().node()) types.push_back(node.op_type());
  return types;
}

Tensor run(Graph graph, const Tensor& input, Device& device) {
  Engine engine(std::move(graph), input.shape(), device, {.plan = {.mode = PlanMode::layers}});
  return engine.run(input);
}

/// Together, the cases use every operator in every form (tests/tools/make_onnx_cases.py).
TEST(OnnxExport, WhatIsReadAgainComputesTheSameBits) {
  const std::filesystem::path folder = source_folder() / "tests/data/onnx";
  const std::unique_ptr<Device> device = open_cpu({.threads = 1});
  std::set<std::string> seen;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path().string());
    const std::string input_name = entry.path().stem().string() + ".input.npy";
    const Tensor input = parse_npy(read_file(folder / input_name), input_name);
    const std::vector<uint8_t> bytes = read_file(entry.path());
    const Graph graph = import_onnx(bytes, "case.onnx");
    for (const Node& node : graph.nodes) seen.insert(name_of(node.op));
    const Tensor before = run(import_onnx(bytes, "case.onnx"), input, *device),
                 after = run(again(graph), input, *device);
    ASSERT_EQ(before.shape(), after.shape());
    EXPECT_EQ(std::memcmp(before.raw(), after.raw(), before.bytes()), 0);
  }
  EXPECT_GE(seen.size(), 23u) << "operators that no case has are not tested";
}

/// x (N x 3 x 4 x 4) -> one node -> y
Graph one_node(Op op, Shape input = {-1, 3, 4, 4}) {
  Graph graph{.name = "one", .inputs = {{.shape = std::move(input)}}};
  graph.inputs[0].value = graph.add_value("x");
  graph.outputs[0].value = graph.add_value("y");
  graph.nodes.push_back(
      {.name = "node", .op = std::move(op), .inputs = {graph.inputs[0].value}, .output = graph.outputs[0].value});
  return graph;
}

TEST(OnnxExport, SaysOpsetShapesAndMetadata) {
  Graph graph = one_node(FlattenOp{});
  graph.metadata["semester"] = "fa19";
  const onnx::ModelProto model = exported(graph);
  EXPECT_EQ(model.opset_import(0).version(), 13);
  EXPECT_EQ(model.graph().input(0).type().tensor_type().shape().dim(0).dim_param(), "N");
  const auto& output = model.graph().output(0).type().tensor_type().shape();
  EXPECT_EQ(output.dim(0).dim_param(), "N");
  EXPECT_EQ(output.dim(1).dim_value(), 48);
  EXPECT_EQ(again(graph).metadata, graph.metadata);
}

TEST(OnnxExport, RoundingGoesToFloat16AndBack) {
  const Graph graph = one_node(RoundOp{});
  EXPECT_THAT(operators(exported(graph)), ElementsAre("Cast", "Cast"));
  EXPECT_EQ(again(graph).nodes.size(), 1u);
}

TEST(OnnxExport, SoftmaxOverSeveralDimensionsIsFlattened) {
  const SoftmaxOp op{.axis = 1, .flattened = true};
  EXPECT_THAT(operators(exported(one_node(op))), ElementsAre("Flatten", "Softmax", "Reshape"));
  const Graph back = again(one_node(op));
  EXPECT_EQ(std::get<ReshapeOp>(back.nodes[2].op).shape, (Shape{-1, 3, 4, 4}));
  EXPECT_THAT(bad_input_message([&] { export_onnx(one_node(op, {-1, 3, -1, -1})); }), HasSubstr("node 'node'"));
}

TEST(OnnxExport, DilatedAveragesWantALaterOpset) {
  PoolOp op{.pool = {.kind = PoolKind::average, .kernel_h = 2, .kernel_w = 2, .dilation_h = 2}};
  EXPECT_EQ(exported(one_node(op)).opset_import(0).version(), 21);
  EXPECT_EQ(std::get<PoolOp>(again(one_node(op)).nodes[0].op).pool, op.pool);
  op.pool.kind = PoolKind::max;
  EXPECT_EQ(exported(one_node(op)).opset_import(0).version(), 13);
}

TEST(OnnxExport, EveryNameIsThereOnce) {
  Graph graph = one_node(ReshapeOp{.shape = {0, -1}});
  graph.value_names = {"", "y"};
  const ValueId first = graph.outputs[0].value;
  graph.outputs[0].value = graph.add_value("y");
  graph.nodes.push_back(
      {.name = "node", .op = ReshapeOp{.shape = {-1}}, .inputs = {first}, .output = graph.outputs[0].value});
  graph.add_value("y.shape");  // collides with the name of the first node's constant
  const onnx::ModelProto model = exported(graph);
  std::vector<std::string> names{model.graph().input(0).name()};
  for (const auto& initializer : model.graph().initializer()) names.push_back(initializer.name());
  for (const auto& node : model.graph().node()) names.push_back(node.output(0));
  EXPECT_EQ(names.size(), 5u);
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  EXPECT_EQ(std::ranges::count(names, ""), 0);
  EXPECT_EQ(again(graph).nodes.size(), 2u);
}

TEST(OnnxExport, AnInputHandedOnBecomesANode) {
  Graph graph = one_node(FlattenOp{});
  graph.nodes.clear();
  graph.outputs[0].value = graph.inputs[0].value;
  EXPECT_THAT(operators(exported(graph)), ElementsAre("Identity"));
  EXPECT_TRUE(again(graph).nodes.empty());
}

}  // namespace
}  // namespace convlab
