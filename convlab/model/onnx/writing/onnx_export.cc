// Exports graphs to ONNX.

#include "convlab/model/onnx/writing/onnx_export.h"

#include <string>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_writer.h"
#include "convlab/model/onnx/ops/onnx_ops.h"

namespace convlab {
namespace {

/// Returns the IR version that was released with an opset, but at least that of opset 13.
int64_t ir_version(int64_t opset) {
  constexpr std::pair<int64_t, int64_t> kVersions[] = {{24, 11}, {23, 11}, {21, 10}, {19, 9}};
  for (const auto& [since, version] : kVersions) {
    if (opset >= since) return version;
  }
  return 8;
}

}  // namespace

std::vector<uint8_t> export_onnx(const Graph& graph) {
  OnnxWriter writer(graph);
  for (const Node& node : graph.nodes) write_onnx(writer, node);
  onnx::ModelProto model;
  *model.mutable_graph() = writer.take();
  model.set_ir_version(ir_version(writer.opset()));
  model.set_producer_name("convlab");
  model.add_opset_import()->set_version(writer.opset());
  for (const auto& [key, value] : graph.metadata) {
    onnx::StringStringEntryProto& entry = *model.add_metadata_props();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::string bytes;
  if (!model.SerializeToString(&bytes)) {
    throw bad_input("{}: the model exceeds 2 GiB, the maximum size of an ONNX file", graph.name);
  }
  return {bytes.begin(), bytes.end()};
}

}  // namespace convlab
