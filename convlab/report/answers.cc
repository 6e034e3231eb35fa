// Runs a network on the test images for a report.

#include "convlab/report/answers.h"

#include <memory>
#include <set>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/dataset/resize.h"
#include "convlab/device/device.h"
#include "convlab/device/devices.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/session/labels.h"
#include "convlab/session/ready_model.h"

namespace convlab {
namespace {

/// Returns the graph with `output` as its only output.
Graph graph_to(const Graph& graph, ValueId output) {
  Graph cut{.name = graph.name,
            .value_names = graph.value_names,
            .nodes = graph.nodes,
            .inputs = graph.inputs,
            .outputs = {{.value = output}}};
  for (const auto& [id, tensor] : graph.constants) cut.constants.emplace(id, tensor.clone());
  drop_unused(cut);
  return cut;
}

/// Returns every value of the graph that is a stack of feature maps, for one image.
std::vector<FeatureMaps> features_of(const Graph& graph, const Tensor& image, Device& device) {
  std::vector<FeatureMaps> features;
  const std::vector<Shape> shapes = infer_shapes(graph, image.shape());
  const EngineOptions options{.plan = {.mode = PlanMode::layers, .input = image.type()}};
  for (const Node& node : graph.nodes) {
    const Shape& shape = shapes[static_cast<size_t>(node.output)];
    if (shape.size() != 4 || shape[2] * shape[3] == 1) continue;
    ReadyModel layer(graph_to(graph, node.output), image.shape(), device, options);
    features.push_back({node.name + ": " + name_of(node.op), std::move(layer.run({&image, 1})[0])});
  }
  return features;
}

}  // namespace

double Answers::accuracy(int64_t n) const {
  int64_t right = 0;
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) right += predicted[i] == data.labels[i];
  return static_cast<double>(right) / static_cast<double>(n);
}

Answers::Confusion Answers::confusion() const {
  Confusion counts{};
  for (size_t i = 0; i < predicted.size(); ++i) ++counts[data.labels[i]][static_cast<size_t>(predicted[i])];
  return counts;
}

std::vector<int64_t> Answers::examples(int label, bool right, size_t most) const {
  std::vector<int64_t> found;
  for (size_t i = 0; i < predicted.size() && found.size() < most; ++i) {
    if (data.labels[i] == label && (predicted[i] == label) == right) found.push_back(static_cast<int64_t>(i));
  }
  return found;
}

Answers answer(const std::string& model, const std::string& folder) {
  Answers answers{.model = model};
  Graph graph = load_model(model);
  answers.layers = describe_layers(graph);
  answers.data = load_fashion_mnist(Split::test, folder);
  const std::unique_ptr<Device> device = open_device("cpu", {});
  const std::unique_ptr<Stream> stream = device->make_stream();
  const int64_t side = graph.inputs[0].shape.size() == 4 ? graph.inputs[0].shape[2] : 0;
  if (side < 1) throw bad_input("{}: the input must be images of a fixed size", model);
  const Tensor images = resized(answers.data.images, side, *stream->threads());
  const int64_t count = images.shape()[0];

  Tensor first(images.type(), {1, 1, side, side});
  std::copy_n(images.values<uint8_t>().begin(), first.count(), first.values<uint8_t>().begin());
  answers.features = features_of(graph, first, *device);

  ReadyModel network(std::move(graph), images.shape(), *device, {.plan = {.input = ElementType::u8}});
  if (network.output_shapes(count)[0] != Shape{count, Answers::kClasses}) {
    throw bad_input("{}: the output must be {} class scores per image", model, Answers::kClasses);
  }
  answers.scores.resize(static_cast<size_t>(count * Answers::kClasses));
  network.run(images.raw(), count, answers.scores.data());
  answers.predicted = labels_of(answers.scores, Answers::kClasses);
  for (const PlanStep& step : network.plan().steps) {
    if (!step.is_conv()) continue;
    ConvProblem problem = conv_step(step.what).problem;
    problem.n = 1;
    answers.problems.push_back(to_text(problem));
    answers.names.push_back(step.name.substr(0, step.name.find('+')));
  }
  return answers;
}

}  // namespace convlab
