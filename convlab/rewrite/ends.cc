// Adds scaling before a network and labels after it.

#include "convlab/rewrite/ends.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Whether the operator is one softmax over all elements of each image. `shape` is its output's.
bool is_softmax_by_image(const Op& op, const Shape& shape) {
  const auto* softmax = std::get_if<SoftmaxOp>(&op);
  if (softmax == nullptr) return false;
  const int64_t axis = normalized_axis(softmax->axis, std::ssize(shape));
  const auto first = shape.begin() + axis, last = softmax->flattened ? shape.end() : first + 1;
  const int64_t together = std::accumulate(first, last, int64_t{1}, std::multiplies<>());
  return axis > 0 && together == image_element_count(shape);
}

/// Drops the softmax at a network's end if it is over all elements of each image, and returns whether it did. Softmax
/// keeps their order, except that it may round two of them to equal values: without it, the label is the index of the
/// largest score itself. The ArgMaxOp handles NaN and infinity.
bool drop_softmax(Graph& graph, const Shape& input) {
  const auto last = std::ranges::find(graph.nodes, graph.outputs[0].value, &Node::output);
  if (last == graph.nodes.end()) return false;
  const Shape shape = infer_shapes(graph, input)[static_cast<size_t>(graph.outputs[0].value)];
  if (!is_softmax_by_image(last->op, shape)) return false;
  graph.outputs[0].value = last->inputs[0];
  graph.nodes.erase(last);
  return true;
}

}  // namespace

void scale_input(Graph& graph, const Shape& input, int64_t side) {
  const ValueId original = graph.add_value("original images");
  graph.nodes.insert(graph.nodes.begin(),
                     {.name = "scale", .op = ScaleOp{side}, .inputs = {original}, .output = graph.inputs[0].value});
  graph.inputs[0].value = original;
  for (size_t i = 1; i < input.size(); ++i) graph.inputs[0].shape[i] = input[i];
}

void scale_values(Graph& graph, float factor, float offset) {
  const auto constant = [&](const char* name, float value) {
    const ValueId id = graph.add_value(name);
    graph.constants.emplace(id, Tensor::of<float>({1}, std::span<const float>(&value, 1)));
    return id;
  };
  const ValueId original = graph.add_value("original values"), multiplied = graph.add_value("multiplied values");
  const ValueId scaled = graph.inputs[0].value;
  graph.nodes.insert(
      graph.nodes.begin(),
      {Node{.name = "multiply", .op = MulOp{}, .inputs = {original, constant("factor", factor)}, .output = multiplied},
       Node{.name = "add", .op = AddOp{}, .inputs = {multiplied, constant("offset", offset)}, .output = scaled}});
  graph.inputs[0].value = original;
}

void label_output(Graph& graph, const Shape& input) {
  const ArgMaxOp op{.finite = drop_softmax(graph, input)};
  const ValueId labels = graph.add_value("labels");
  graph.nodes.push_back({.name = "labels", .op = op, .inputs = {graph.outputs[0].value}, .output = labels});
  graph.outputs[0].value = labels;
}

}  // namespace convlab
