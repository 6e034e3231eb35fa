// Finds the readers and writers of operators, which follow ONNX's Operators.md and Changelog.md.

#include "convlab/model/onnx/ops/onnx_ops.h"

#include <algorithm>

#include "convlab/base/error.h"
#include "convlab/model/onnx/ops/onnx_op.h"

namespace convlab {
namespace {

const OpTable<OnnxOpEntry>& entries() {
  static const OpTable<OnnxOpEntry> all;
  return all;
}

/// All readers, sorted by name.
const OnnxReaders& readers() {
  static const OnnxReaders all = [] {
    OnnxReaders readers = onnx_readers_without_op();
    for (const OnnxOpEntry& entry : entries()) {
      readers.insert(readers.end(), entry.readers.begin(), entry.readers.end());
    }
    std::ranges::sort(readers, {}, &NamedOnnxReader::name);
    return readers;
  }();
  return all;
}

}  // namespace

void NotInOnnx::write(OnnxNodeWriter&, const Op&) {
  throw bad_input("internal operators of the engine cannot be exported to ONNX");
}

std::vector<int64_t> read_axes(const OnnxNode& node, int64_t since, size_t input) {
  const bool attribute = node.opset() < since;
  node.check_inputs(1, attribute ? 1 : input + 1);
  return attribute ? node.integers("axes") : node.constant_integers(input, "axes");
}

OnnxReader find_onnx_reader(std::string_view op_type) {
  const auto found = std::ranges::lower_bound(readers(), op_type, {}, &NamedOnnxReader::name);
  return found == readers().end() || found->name != op_type ? nullptr : found->read;
}

OnnxReader find_microsoft_reader(std::string_view op_type) {
  static const OnnxReaders all = onnx_microsoft_readers();
  const auto found = std::ranges::find(all, op_type, &NamedOnnxReader::name);
  return found == all.end() ? nullptr : found->read;
}

std::vector<std::string_view> onnx_operators() {
  std::vector<std::string_view> names;
  for (const NamedOnnxReader& each : readers()) names.push_back(each.name);
  return names;
}

void write_onnx(OnnxWriter& writer, const Node& node) {
  try {
    OnnxNodeWriter each(writer, node);
    entries()[node.op].write(each, node.op);
    each.done();
  } catch (const Error& error) {
    throw bad_input("node '{}' ({}): {}", node.name, name_of(node.op), error.what());
  }
}

}  // namespace convlab
