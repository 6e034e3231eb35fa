// convlab convert: converts an MXNet checkpoint, or any other model that convlab reads, to clean ONNX.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/command.h"
#include "app/networks/model_inputs.h"
#include "app/option_parsers.h"
#include "app/results/results_json.h"
#include "convlab/base/file.h"
#include "convlab/model/formats/zoo.h"
#include "convlab/model/onnx/writing/onnx_export.h"
#include "convlab/rewrite/simplify.h"

namespace convlab::app {
namespace {

struct ConvertOptions {
  std::string model, output;
  std::vector<std::string> shapes;
};

/// Folds constants. Also folds neighboring operators into weights if all sizes except the batch size are known.
Graph cleaned(Graph graph) {
  std::vector<Shape> shapes;
  bool known = true;
  for (const GraphInput& input : graph.inputs) {
    Shape& shape = shapes.emplace_back(input.shape);
    if (!shape.empty() && shape[0] == -1) shape[0] = 1;
    known = known && std::ranges::count(shape, -1) == 0;
  }
  if (known) return simplified(std::move(graph), shapes, true);
  fold_constants(graph);
  return graph;
}

/// Describes the layers in a line: each one, or, of a large network, the number of each operator.
std::string summary_of(const Graph& graph, const std::string& layers) {
  constexpr size_t kMostCharacters = 120;
  if (layers.size() <= kMostCharacters) return layers;
  std::vector<std::pair<std::string, int64_t>> counts;
  for (const Node& node : graph.nodes) {
    const std::string op = name_of(node.op);
    const auto found = std::ranges::find(counts, op, &std::pair<std::string, int64_t>::first);
    if (found == counts.end()) {
      counts.emplace_back(op, 1);
    } else {
      ++found->second;
    }
  }
  std::ranges::stable_sort(counts, std::greater(), &std::pair<std::string, int64_t>::second);
  std::string text = fmt::format("{} nodes:", graph.nodes.size());
  constexpr size_t kMostOperators = 6;
  for (size_t i = 0; i < std::min(counts.size(), kMostOperators); ++i)
    text += fmt::format("{} {} {}", i == 0 ? "" : ",", counts[i].second, counts[i].first);
  return counts.size() > kMostOperators ? text + ", ..." : text;
}

void convert(const ConvertOptions& options, Output& output) {
  require_ending("-o", options.output, {".onnx"});
  require_writable("-o", options.output);
  require_other_file("-o", options.output, options.model);
  Graph graph = load_for_shapes(options.model, parse_shapes(options.shapes));
  const std::string layers = describe_layers(graph), summary = summary_of(graph, layers);
  const std::vector<uint8_t> bytes = export_onnx(cleaned(std::move(graph)));
  write_file(options.output, bytes);
  output.print("{}: {}; {} bytes\n", options.output, summary, bytes.size());
  write_json(output,
             ConvertResult{.model = options.model, .output = options.output, .layers = layers, .bytes = bytes.size()});
}

}  // namespace

Action declare_convert(CLI::App& parser) {
  auto options = std::make_shared<ConvertOptions>();
  require(
      add_text(parser, "MODEL", options->model, "", "a shipped model's name, an .onnx file or an MXNet .params file"));
  require(add_text(parser, "-o,--output", options->output, "OUT.onnx", "ONNX file to write"));
  add_texts(parser, "--shape", options->shapes, 1, kAnyNumber, "[NAME=]NxCxHxW",
            "shape of an input that has dynamic sizes; N stays dynamic unless the model needs its value");
  return [options](Output& output) { convert(*options, output); };
}

}  // namespace convlab::app
