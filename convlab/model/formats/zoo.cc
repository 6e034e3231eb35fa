// Loads models by name or file, and describes them.

#include "convlab/model/formats/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "convlab/base/file.h"
#include "convlab/base/resources.h"
#include "convlab/base/semester.h"
#include "convlab/base/text.h"
#include "convlab/model/formats/mxnet_import.h"
#include "convlab/model/onnx/reading/onnx_import.h"

namespace convlab {
namespace {

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator entry(find_resource("models"), error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (entry->path().extension() == ".onnx") names.push_back(entry->path().stem().string());
  }
  if (error) throw bad_input("{}: {}", find_resource("models").string(), error.message());
  std::sort(names.begin(), names.end());
  return names;
}

constexpr int64_t kMostBytes = int64_t{1} << 31;  // protobuf's limit for a message

Graph load_onnx(const std::filesystem::path& path, const std::map<std::string, Shape>& input_shapes = {}) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  Graph graph =
      import_onnx(InputFile(path, kMostBytes), path.string(), {.folder = folder, .input_shapes = input_shapes});
  graph.name = printable(path.stem().string());
  return graph;
}

/// Loads PREFIX-NNNN.params and PREFIX-symbol.json.
Graph load_mxnet(const std::filesystem::path& params) {
  const std::string stem = params.stem().string();
  const size_t dash = stem.rfind('-');
  const std::string prefix = dash == std::string::npos ? stem : stem.substr(0, dash);
  const std::filesystem::path symbol = params.parent_path() / (prefix + "-symbol.json");
  if (!std::filesystem::exists(symbol)) {
    throw bad_input("{}: cannot find symbol file {}; it must be in the same directory", params.string(),
                    symbol.string());
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

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Returns one layer in the style of the course's tables; "" for an operator that only reshapes.
std::string describe(const Graph& graph, const Node& node) {
  const auto weights = [&]() -> Shape {
    const auto found = node.inputs.size() > 1 ? graph.constants.find(node.inputs[1]) : graph.constants.end();
    return found == graph.constants.end() ? Shape{} : found->second.shape();
  }();
  if (std::holds_alternative<FlattenOp>(node.op) || std::holds_alternative<ReshapeOp>(node.op) ||
      std::holds_alternative<SqueezeOp>(node.op) || std::holds_alternative<UnsqueezeOp>(node.op)) {
    return "";
  }
  if (std::holds_alternative<ConvOp>(node.op) && weights.size() == 4) {
    return fmt::format("conv {}@{}x{}", weights[0], weights[2], weights[3]);
  }
  if (const auto* gemm = std::get_if<GemmOp>(&node.op); gemm != nullptr && weights.size() == 2) {
    return fmt::format("FC {}", weights[gemm->transpose_b ? 0 : 1]);
  }
  if (std::holds_alternative<MatMulOp>(node.op) && weights.size() == 2) return fmt::format("FC {}", weights[1]);
  if (const auto* op = std::get_if<PoolOp>(&node.op)) {
    const Pool& pool = op->pool;
    const auto size = [](int64_t h, int64_t w) { return h == w ? fmt::format("{}", h) : fmt::format("{}x{}", h, w); };
    const std::string window = size(pool.kernel_h, pool.kernel_w), stride = size(pool.stride_h, pool.stride_w);
    return fmt::format("{} {}{}", lower(name_of(node.op)), window, stride == window ? "" : "/" + stride);
  }
  return lower(name_of(node.op));
}

}  // namespace

std::string describe_layers(const Graph& graph) {
  std::vector<std::string> layers;
  for (const Node& node : graph.nodes) {
    if (std::string layer = describe(graph, node); !layer.empty()) layers.push_back(std::move(layer));
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
                      .input = Shape(graph.inputs[0].shape.begin() + (graph.inputs[0].shape.empty() ? 0 : 1),
                                     graph.inputs[0].shape.end()),
                      .layers = describe_layers(graph),
                      .accuracy = parse_double(metadata(graph, "test_accuracy", "0"), name + ": test_accuracy", 0, 1)});
  }
  return models;
}

Graph load_model(const std::string& name_or_path, const std::map<std::string, Shape>& input_shapes) {
  const std::filesystem::path path(name_or_path);
  if (path.extension() == ".params") return load_mxnet(path);
  if (path.extension() == ".onnx") return load_onnx(path, input_shapes);
  if (path.extension() == ".json") {
    throw bad_input("{}: expected the checkpoint's .params file, got its symbol file", name_or_path);
  }
  const std::vector<std::string> names = shipped_names();
  if (std::find(names.begin(), names.end(), name_or_path) != names.end()) {
    return load_onnx(find_resource("models") / (name_or_path + ".onnx"));
  }
  const auto variant = std::ranges::find_if(
      names, [&](const std::string& name) { return !name_or_path.empty() && name.starts_with(name_or_path + "-"); });
  std::string hint = variant == names.end() ? semester_hint(name_or_path, names) : "";
  if (hint.empty()) hint = did_you_mean(variant == names.end() ? name_or_path : *variant, names);
  throw bad_input("unknown model '{}'{}; shipped models: {}; model files must end in .onnx or .params", name_or_path,
                  hint, fmt::join(names, ", "));
}

Graph load_interface(const std::string& path) {
  Graph graph = onnx_interface(InputFile(path, kMostBytes), path);
  graph.name = printable(std::filesystem::path(path).stem().string());
  return graph;
}

}  // namespace convlab
