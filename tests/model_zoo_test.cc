#include "convlab/model/zoo.h"

#include <gmock/gmock.h>

#include "convlab/model/onnx_export.h"
#include "convlab/model/onnx_import.h"

namespace convlab {
namespace {

TEST(Zoo, SevenModelsAreShippedAndDescribeThemselves) {
  const std::vector<ShippedModel> models = shipped_models();
  std::vector<std::string> names;
  for (const ShippedModel& model : models) {
    names.push_back(model.name);
    EXPECT_EQ(model.semester, model.name.substr(0, 4));
    EXPECT_EQ(model.input, (Shape{1, model.input[1], model.input[1]})) << model.name;
    EXPECT_GE(model.accuracy, model.name == "fa17-low" ? 0.55 : 0.90) << model.name;
  }
  EXPECT_THAT(names, testing::ElementsAre("fa17-high", "fa17-low", "fa18", "fa19", "sp18", "sp19", "sp19-library"));
  EXPECT_EQ(models[3].layers, "conv 12@5x5, tanh, maxpool 2, conv 24@5x5, FC 160, tanh, FC 10, softmax");
  EXPECT_EQ(models[0].course_model, "ece408-high");
  EXPECT_EQ(models[3].course_model, "ece408");
}

TEST(Zoo, AnUnknownNameGetsTheNearest) {
  try {
    load_model("fa199");
    FAIL() << "fa199 was loaded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_input);
    EXPECT_THAT(error.what(), testing::HasSubstr("did you mean fa19?"));
  }
}

TEST(Zoo, ExportAndImportKeepTheGraph) {
  const Graph graph = load_model("fa19");
  const Graph again = import_onnx(export_onnx(graph), "again");
  ASSERT_EQ(again.nodes.size(), graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) EXPECT_EQ(again.nodes[i].op.index(), graph.nodes[i].op.index());
  EXPECT_EQ(again.input_shape, graph.input_shape);
  EXPECT_EQ(again.metadata, graph.metadata);
  EXPECT_EQ(infer_shapes(again, {7, 1, 70, 70})[again.output], (Shape{7, 10}));
}

}  // namespace
}  // namespace convlab
