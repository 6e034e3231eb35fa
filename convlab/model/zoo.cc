#include "convlab/model/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "convlab/base/file.h"
#include "convlab/base/resources.h"
#include "convlab/base/text.h"
#include "convlab/model/mxnet_import.h"
#include "convlab/model/onnx_import.h"

namespace convlab {
namespace {

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(find_resource("models"))) {
    if (entry.path().extension() == ".onnx") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Graph load_onnx(const std::filesystem::path& path) {
  constexpr int64_t kMostBytes = int64_t{1} << 31;  // of a protobuf message
  Graph graph = import_onnx(read_file(path, kMostBytes), path.string());
  graph.name = printable(path.stem().string());
  return graph;
}

/// PREFIX-NNNN.params and PREFIX-symbol.json.
Graph load_mxnet(const std::filesystem::path& params) {
  const std::string stem = params.stem().string();
  const size_t dash = stem.rfind('-');
  const std::string prefix = dash == std::string::npos ? stem : stem.substr(0, dash);
  const std::filesystem::path symbol = params.parent_path() / (prefix + "-symbol.json");
  if (!std::filesystem::exists(symbol)) {
    throw bad_input("{}: the network's symbol is not there: {} is wanted beside it", params.string(), symbol.string());
  }
  constexpr int64_t kMostSymbolBytes = int64_t{64} << 20;
  Graph graph = import_mxnet(read_file(symbol, kMostSymbolBytes), symbol.string(), read_file(params), params.string());
  graph.name = printable(stem);
  return graph;
}

std::string metadata(const Graph& graph, const std::string& key, const std::string& otherwise) {
  const auto found = graph.metadata.find(key);
  return found == graph.metadata.end() ? otherwise : found->second;
}

}  // namespace

std::string describe_layers(const Graph& graph) {
  std::vector<std::string> layers;
  for (const Node& node : graph.nodes) {
    if (std::holds_alternative<ConvOp>(node.op)) {
      const Shape& filters = graph.constants.at(node.inputs[1]).shape();
      layers.push_back(fmt::format("conv {}@{}x{}", filters[0], filters[2], filters[3]));
    } else if (const auto* gemm = std::get_if<GemmOp>(&node.op)) {
      const auto weights = graph.constants.find(node.inputs[1]);
      const size_t columns = gemm->transpose_b ? 0 : 1;
      layers.push_back(weights == graph.constants.end() ? "matrix product"
                                                        : fmt::format("FC {}", weights->second.shape()[columns]));
    } else if (const auto* pool = std::get_if<PoolOp>(&node.op)) {
      layers.push_back(
          fmt::format("{}pool {}", pool->pool.kind == PoolKind::max ? "max" : "average", pool->pool.kernel_h));
    } else if (!std::holds_alternative<FlattenOp>(node.op) && !std::holds_alternative<ReshapeOp>(node.op)) {
      std::string name = name_of(node.op);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      layers.push_back(name);
    }
  }
  return fmt::format("{}", fmt::join(layers, ", "));
}

std::string course_model_name(const Graph& graph) {
  const std::string name = metadata(graph, "model", "");
  if (name == "fa17-high") return "ece408-high";
  if (name == "fa17-low") return "ece408-low";
  return "ece408";
}

std::vector<ShippedModel> shipped_models() {
  std::vector<ShippedModel> models;
  const std::filesystem::path folder = find_resource("models");
  for (const std::string& name : shipped_names()) {
    const Graph graph = load_onnx(folder / (name + ".onnx"));
    models.push_back({.name = name,
                      .semester = metadata(graph, "semester", ""),
                      .course_model = course_model_name(graph),
                      .input = Shape(graph.input_shape.begin() + 1, graph.input_shape.end()),
                      .layers = describe_layers(graph),
                      .accuracy = parse_double(metadata(graph, "test_accuracy", "0"), name + ": test_accuracy", 0, 1)});
  }
  return models;
}

Graph load_model(const std::string& name_or_path) {
  const std::filesystem::path path(name_or_path);
  if (path.extension() == ".params") return load_mxnet(path);
  if (path.extension() == ".onnx") return load_onnx(path);
  if (path.extension() == ".json") {
    throw bad_input("{}: name the checkpoint's .params file, not its symbol", name_or_path);
  }
  const std::vector<std::string> names = shipped_names();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return load_onnx(find_resource("models") / (name_or_path + ".onnx"));
  }
  const std::string nearest = closest(name_or_path, names);
  throw bad_input("no model is named '{}'{}; shipped are {}; files end in .onnx or .params", name_or_path,
                  nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest), fmt::join(names, ", "));
}

}  // namespace convlab
