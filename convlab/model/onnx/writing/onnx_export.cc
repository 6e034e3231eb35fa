// Exports graphs to ONNX.

#include "convlab/model/onnx/writing/onnx_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "convlab/base/error.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/writing/onnx_writers.h"

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

[[noreturn]] void refuse_own() { throw bad_input("internal operators of the engine cannot be exported to ONNX"); }

}  // namespace

void write(OnnxNodeWriter&, const ByteAddOp&) { refuse_own(); }
void write(OnnxNodeWriter&, const ByteConvOp&) { refuse_own(); }
void write(OnnxNodeWriter&, const ByteMeanOp&) { refuse_own(); }
void write(OnnxNodeWriter&, const ByteConcatOp&) { refuse_own(); }
void write(OnnxNodeWriter&, const ScaleOp&) { refuse_own(); }
void write(OnnxNodeWriter&, const SqueezeExciteOp&) { refuse_own(); }
void write(OnnxNodeWriter&, const ArgMaxOp&) { refuse_own(); }

void write_onnx(OnnxWriter& writer, const Node& node) {
  try {
    OnnxNodeWriter each(writer, node);
    std::visit([&](const auto& op) { write(each, op); }, node.op);
    each.done();
  } catch (const Error& error) {
    throw bad_input("node '{}' ({}): {}", node.name, name_of(node.op), error.what());
  }
}

std::vector<uint8_t> export_onnx(const Graph& graph) {
  OnnxWriter writer(graph);
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
