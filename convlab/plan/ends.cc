#include "convlab/plan/ends.h"

namespace convlab {

void scale_input(Graph& graph, const Shape& input, int64_t side) {
  const ValueId original = graph.add_value("original images");
  graph.nodes.insert(graph.nodes.begin(),
                     {.name = "scale", .op = ScaleOp{side}, .inputs = {original}, .output = graph.input});
  graph.input = original;
  for (size_t i = 1; i < input.size(); ++i) graph.input_shape[i] = input[i];
}

void label_output(Graph& graph) {
  const ValueId labels = graph.add_value("labels");
  graph.nodes.push_back({.name = "labels", .op = ArgMaxOp{}, .inputs = {graph.output}, .output = labels});
  graph.output = labels;
}

}  // namespace convlab
