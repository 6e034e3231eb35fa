// Decides whether a batch may be split into single images.

#include "convlab/rewrite/split.h"

#include <vector>

#include "convlab/base/error.h"
#include "convlab/model/op_info.h"

namespace convlab {
namespace {

/// Whether `many`, a value's shape for n images, is its shape for one image, `one`, with n times the first size.
bool follows(const Shape& one, const Shape& many, int64_t n) {
  if (one.empty() || one.size() != many.size() || many[0] != n * one[0]) return false;
  return std::equal(one.begin() + 1, one.end(), many.begin() + 1);
}

}  // namespace

std::optional<std::string> why_not_split(const Graph& graph, const Shape& input_shape) {
  if (input_shape.empty()) return "the input is a scalar";
  std::vector<std::vector<Shape>> shapes;  // for 1, 2 and 3 images
  for (int64_t n = 1; n <= 3; ++n) {
    Shape shape = input_shape;
    shape[0] = n;
    try {
      shapes.push_back(infer_shapes(graph, shape));
    } catch (const Error& error) {
      return fmt::format("a batch of {} image{} is not supported ({})", n, n == 1 ? "" : "s", error.what());
    }
  }
  for (const Node& node : graph.nodes) {
    const auto value = static_cast<size_t>(node.output);
    const bool apart = follows(shapes[0][value], shapes[1][value], 2) && follows(shapes[0][value], shapes[2][value], 3);
    std::vector<SplitOperand> operands;
    for (const ValueId input : node.inputs) {
      operands.push_back({shapes[0][static_cast<size_t>(input)], !graph.constants.contains(input)});
    }
    if (!apart || mixes_images(node.op, operands)) {
      return fmt::format("node '{}' ({}) mixes images of a batch", node.name, name_of(node.op));
    }
  }
  return std::nullopt;
}

}  // namespace convlab
