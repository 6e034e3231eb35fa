// convlab convert: converts an MXNet checkpoint, or any other model that convlab reads, to clean ONNX.

#include <algorithm>
#include <memory>

#include "app/command.h"
#include "app/networks/model_inputs.h"
#include "app/options.h"
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

void convert(const ConvertOptions& options, Output& output) {
  require_ending("-o", options.output, {".onnx"});
  require_writable("-o", options.output);
  require_other_file("-o", options.output, options.model);
  Graph graph = load_for_shapes(options.model, parse_shapes(options.shapes));
  const std::string layers = describe_layers(graph);
  const std::vector<uint8_t> bytes = export_onnx(cleaned(std::move(graph)));
  write_file(options.output, bytes);
  output.print("{}: {}; {} bytes\n", options.output, layers, bytes.size());
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
