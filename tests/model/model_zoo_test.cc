// Tests the built-in models: names, loading and descriptions of layers.

#include "convlab/model/formats/zoo.h"

#include <gmock/gmock.h>

#include "convlab/model/onnx/reading/onnx_import.h"
#include "convlab/model/onnx/writing/onnx_export.h"
#include "tests/support/onnx_model.h"
#include "tests/support/paths.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

/// The course's networks.
struct Network {
  std::string name, semester;
  int64_t side;
  std::string layers, course_model = "ece408";
  double least_accuracy = 0.90, most_accuracy = 1.0;
};
const std::vector<Network> kNetworks = {
    {"fa17-high", "fa17", 28, "conv 50@5x5, tanh, maxpool 2, FC 500, tanh, FC 10, softmax", "ece408-high"},
    {"fa17-low", "fa17", 28, "conv 50@5x5, tanh, maxpool 2, FC 500, tanh, FC 10, softmax", "ece408-low", 0.55, 0.70},
    {"fa18", "fa18", 72, "conv 12@7x7, tanh, maxpool 2, conv 24@7x7, FC 160, tanh, FC 10, softmax"},
    {"fa19", "fa19", 70, "conv 12@5x5, tanh, maxpool 2, conv 24@5x5, FC 160, tanh, FC 10, softmax"},
    {"sp18", "sp18", 64, "conv 6@5x5, tanh, maxpool 2, conv 16@5x5, FC 140, tanh, FC 10, softmax"},
    {"sp19", "sp19", 48, "conv 6@5x5, tanh, maxpool 2, conv 16@5x5, FC 140, tanh, FC 10, softmax"},
    {"sp19-library", "sp19", 48, "conv 12@7x7, tanh, maxpool 2, conv 24@7x7, FC 160, tanh, FC 10, softmax"},
    {"sp25", "sp25", 86, "conv 4@7x7, relu, maxpool 2, conv 16@7x7, relu, maxpool 4, FC 32, relu, FC 10, softmax",
     "ece408", 0.88},
};

TEST(Zoo, ShipsTheCoursesNetworksAndNoOther) {
  const std::vector<ShippedModel> models = shipped_models();
  ASSERT_EQ(models.size(), kNetworks.size());
  for (size_t i = 0; i < models.size(); ++i) {
    const Network& wanted = kNetworks[i];
    SCOPED_TRACE(wanted.name);
    EXPECT_EQ(models[i].name, wanted.name);
    EXPECT_EQ(models[i].semester, wanted.semester);
    EXPECT_EQ(models[i].course_model, wanted.course_model);
    EXPECT_EQ(models[i].input, (Shape{1, wanted.side, wanted.side}));
    EXPECT_EQ(models[i].layers, wanted.layers);
    EXPECT_GE(models[i].accuracy, wanted.least_accuracy);
    EXPECT_LE(models[i].accuracy, wanted.most_accuracy);
  }
}

TEST(Zoo, LoadsByNameAndByPath) {
  for (const Network& wanted : kNetworks) {
    const Graph graph = load_model(wanted.name);
    EXPECT_EQ(graph.name, wanted.name);
    const std::vector<Shape> shapes = infer_shapes(graph, Shape{3, 1, wanted.side, wanted.side});
    EXPECT_EQ(shapes[static_cast<size_t>(graph.outputs[0].value)], (Shape{3, 10}));
  }
  EXPECT_EQ(load_model(source_folder() / "models/fa19.onnx").name, "fa19");
}

TEST(Zoo, AnUnknownNameGetsTheNearestAndAll) {
  const auto refused = [](const std::string& name) { return bad_input_message([&] { load_model(name); }); };
  EXPECT_THAT(refused("fa199"), HasSubstr("did you mean 'fa19'?"));
  EXPECT_THAT(refused("resnet"), HasSubstr("fa17-high, fa17-low, fa18, fa19"));
  EXPECT_THAT(refused(""), HasSubstr("unknown model ''"));
  EXPECT_THAT(refused("fa20"), HasSubstr("unknown model 'fa20'; fa20 used the network of sp25; shipped models"));
  EXPECT_THAT(refused("fa17"), HasSubstr("unknown model 'fa17' (did you mean 'fa17-high'?)"));
  EXPECT_THAT(refused("nowhere/fa19.onnx"), HasSubstr("nowhere/fa19.onnx"));
  EXPECT_THAT(refused("nowhere/net-0001.params"), HasSubstr("nowhere/net-symbol.json"));
}

TEST(Zoo, DescribesLayersThatTheCourseDidNotHave) {
  OnnxModel model(13);
  model.input("x", {-1, 1, 8, 8}).output("y").initializer("w", OnnxModel::ones({6, 5}));
  model.initializer("row", OnnxModel::ones({5}));
  model.node("AveragePool", {"x"}, {"a"}).list("kernel_shape", {3, 2}).list("strides", {1, 1});
  model.node("LeakyRelu", {"a"}, {"b"}).node("GlobalAveragePool", {"b"}, {"c"}).node("MatMul", {"c", "w"}, {"d"});
  model.node("Gemm", {"d", "row"}, {"y"});  // fits no shape; nothing may be read past its end
  EXPECT_EQ(describe_layers(import_onnx(model.bytes(), "other.onnx")),
            "averagepool 3x2/1, leakyrelu, globalaveragepool, FC 5, gemm");
}

TEST(Zoo, ExportAndImportKeepTheGraph) {
  const Graph graph = load_model("fa19");
  const Graph again = import_onnx(export_onnx(graph), "again");
  ASSERT_EQ(again.nodes.size(), graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) EXPECT_EQ(again.nodes[i].op.index(), graph.nodes[i].op.index());
  EXPECT_EQ(again.inputs[0].shape, graph.inputs[0].shape);
  EXPECT_EQ(again.metadata, graph.metadata);
  EXPECT_EQ(infer_shapes(again, Shape{7, 1, 70, 70})[again.outputs[0].value], (Shape{7, 10}));
}

}  // namespace
}  // namespace convlab
