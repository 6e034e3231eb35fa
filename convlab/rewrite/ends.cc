#include "convlab/rewrite/ends.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Whether the operator makes one distribution of each image's numbers, of this shape.
bool is_softmax_by_image(const Op& op, const Shape& shape) {
  const auto* softmax = std::get_if<SoftmaxOp>(&op);
  if (softmax == nullptr) return false;
  const int64_t axis = normalized_axis(softmax->axis, std::ssize(shape));
  const auto first = shape.begin() + axis, last = softmax->flattened ? shape.end() : first + 1;
  const int64_t together = std::accumulate(first, last, int64_t{1}, std::multiplies<>());
  return axis > 0 && together == image_element_count(shape);
}

/// Takes away the softmax that a network ends with, if it makes one distribution of each image's numbers, and says
/// whether it did. It never changes their order, except that it may round two of them to equal ones: without it, the
/// label is the place of the largest score itself. The ArgMaxOp deals with NaN and infinity.
bool drop_softmax(Graph& graph, const Shape& input) {
  const auto last = std::ranges::find(graph.nodes, graph.output, &Node::output);
  if (last == graph.nodes.end()) return false;
  const Shape shape = infer_shapes(graph, input)[static_cast<size_t>(graph.output)];
  if (!is_softmax_by_image(last->op, shape)) return false;
  graph.output = last->inputs[0];
  graph.nodes.erase(last);
  return true;
}

}  // namespace

void scale_input(Graph& graph, const Shape& input, int64_t side) {
  const ValueId original = graph.add_value("original images");
  graph.nodes.insert(graph.nodes.begin(),
                     {.name = "scale", .op = ScaleOp{side}, .inputs = {original}, .output = graph.input});
  graph.input = original;
  for (size_t i = 1; i < input.size(); ++i) graph.input_shape[i] = input[i];
}

void label_output(Graph& graph, const Shape& input) {
  const ArgMaxOp op{.finite = drop_softmax(graph, input)};
  const ValueId labels = graph.add_value("labels");
  graph.nodes.push_back({.name = "labels", .op = op, .inputs = {graph.output}, .output = labels});
  graph.output = labels;
}

}  // namespace convlab
