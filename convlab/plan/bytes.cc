// Finds the values that a plan keeps in nhwc4 uint8.

#include "convlab/plan/bytes.h"

#include <algorithm>

#include "convlab/rewrite/readers.h"

namespace convlab {
namespace {

bool one_pixel_or_flat(const Shape& shape) {
  return shape.size() == 2 || (shape.size() == 4 && shape[2] == 1 && shape[3] == 1);
}

}  // namespace

bool is_of_bytes(const Op& op) {
  return std::holds_alternative<ByteConvOp>(op) || std::holds_alternative<ByteAddOp>(op) ||
         std::holds_alternative<ByteMeanOp>(op) || std::holds_alternative<ByteConcatOp>(op);
}

bool has_bytes(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const Node& node) { return is_of_bytes(node.op); });
}

bool is_read_as_bytes(const PlanRequest& request, ValueId value) {
  std::vector<ValueId> names{value};
  while (!names.empty()) {
    const ValueId name = names.back();
    names.pop_back();
    for (const size_t reader : request.readers.of(name)) {
      const Node& node = request.graph.nodes[reader];
      if (is_of_bytes(node.op)) return true;
      if (is_alias(node.op) || std::holds_alternative<PoolOp>(node.op)) names.push_back(node.output);
    }
  }
  return false;
}

bool same_in_bytes(const Shape& written, const Shape& shape) {
  if (written == shape) return true;
  return one_pixel_or_flat(written) && one_pixel_or_flat(shape) && written[0] == shape[0] && written[1] == shape[1];
}

}  // namespace convlab
