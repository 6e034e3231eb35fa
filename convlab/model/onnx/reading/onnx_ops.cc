// Finds the readers of operators, which follow ONNX's Operators.md and Changelog.md.

#include "convlab/model/onnx/reading/onnx_ops.h"

#include <algorithm>
#include <vector>

#include "convlab/model/onnx/reading/onnx_readers.h"

namespace convlab {
namespace {

const std::vector<OnnxEntry>& readers() {
  static const std::vector<OnnxEntry> all = [] {
    std::vector<OnnxEntry> entries;
    for (const auto& theme :
         {onnx_window_readers(), onnx_elementwise_readers(), onnx_along_readers(), onnx_rearrange_readers(),
          onnx_index_readers(), onnx_shape_readers(), onnx_quantized_readers()}) {
      entries.insert(entries.end(), theme.begin(), theme.end());
    }
    std::ranges::sort(entries, {}, &OnnxEntry::name);
    return entries;
  }();
  return all;
}

}  // namespace

std::vector<int64_t> read_axes(const OnnxNode& node, int64_t since, size_t input) {
  const bool attribute = node.opset() < since;
  node.check_inputs(1, attribute ? 1 : input + 1);
  return attribute ? node.integers("axes") : node.constant_integers(input, "axes");
}

OnnxReader find_onnx_reader(std::string_view op_type) {
  const auto entry = std::ranges::lower_bound(readers(), op_type, {}, &OnnxEntry::name);
  return entry == readers().end() || entry->name != op_type ? nullptr : entry->read;
}

OnnxReader find_microsoft_reader(std::string_view op_type) {
  const std::span<const OnnxEntry> all = onnx_microsoft_readers();
  const auto entry = std::ranges::find(all, op_type, &OnnxEntry::name);
  return entry == all.end() ? nullptr : entry->read;
}

std::vector<std::string_view> onnx_operators() {
  std::vector<std::string_view> names;
  for (const OnnxEntry& entry : readers()) names.push_back(entry.name);
  return names;
}

}  // namespace convlab
