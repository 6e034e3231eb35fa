// convlab convert: an MXNet checkpoint (or any other model that convlab reads) as ONNX.

#include <memory>

#include "app/command.h"
#include "app/options.h"
#include "app/results/results_json.h"
#include "convlab/base/file.h"
#include "convlab/model/onnx_export.h"
#include "convlab/model/zoo.h"

namespace convlab::app {
namespace {

struct ConvertOptions {
  std::string model, output;
};

void convert(const ConvertOptions& options, Output& output) {
  require_writable("-o", options.output);
  const Graph graph = load_model(options.model);
  const std::vector<uint8_t> bytes = export_onnx(graph);
  write_file(options.output, bytes);
  output.print("{}: {}; {} bytes\n", options.output, describe_layers(graph), bytes.size());
  write_json(
      output,
      ConvertResult{
          .model = options.model, .output = options.output, .layers = describe_layers(graph), .bytes = bytes.size()});
}

}  // namespace

Action declare_convert(CLI::App& parser) {
  auto options = std::make_shared<ConvertOptions>();
  require(add_text(parser, "MODEL", options->model, "", "an MXNet NAME-NNNN.params with NAME-symbol.json beside it"));
  require(add_text(parser, "-o,--output", options->output, "OUT.onnx", "the ONNX file to write"));
  return [options](Output& output) { convert(*options, output); };
}

}  // namespace convlab::app
