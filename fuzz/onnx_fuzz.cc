// Fuzzes import of ONNX models, shape inference, and export of what was imported.

#include "convlab/model/onnx/reading/onnx_import.h"
#include "convlab/model/onnx/writing/onnx_export.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace convlab;
  refuse_or_take([&] {
    const Graph graph = import_onnx({data, size}, "input");
    refuse_or_take([&] {
      std::vector<Shape> inputs;
      for (const GraphInput& input : graph.inputs) {
        inputs.push_back(input.shape);
        for (int64_t& open : inputs.back()) open = open == -1 ? 2 : open;
      }
      for (const Shape& shape : infer_shapes(graph, inputs)) {
        for (int64_t length : shape) demand(length >= 0, "sizes are not negative");
      }
    });
    const std::vector<uint8_t> written = export_onnx(graph);
    size_t nodes = 0;
    try {
      nodes = import_onnx(written, "written").nodes.size();
    } catch (const Error& error) {
      demand(false, error.what());
    }
    demand(nodes >= graph.nodes.size(), "what is written has all nodes");
  });
  return 0;
}
