// Chooses unique names for the values of an ONNX file.

#include "convlab/model/onnx/onnx_names.h"

#include <fmt/format.h>

namespace convlab {

OnnxNames::OnnxNames(const Graph& graph) : names_(graph.value_names.size()), output_of_(graph.value_names.size(), -1) {
  const auto named = [](const std::string& name) { return name.empty() ? std::string("value") : name; };
  for (const GraphInput& input : graph.inputs)
    names_[static_cast<size_t>(input.value)] = fresh(named(graph.name_of(input)));
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const GraphOutput& output = graph.outputs[i];
    std::string& name = names_[static_cast<size_t>(output.value)];
    outputs_.push_back(fresh(named(graph.name_of(output))));
    if (!name.empty() || graph.constants.contains(output.value)) continue;
    name = outputs_.back();
    output_of_[static_cast<size_t>(output.value)] = static_cast<int>(i);
  }
  for (size_t value = 0; value < names_.size(); ++value) {
    if (names_[value].empty()) names_[value] = fresh(named(graph.value_names[value]));
  }
}

std::string UniqueNames::fresh(const std::string& wanted) {
  std::string name = wanted;
  for (int i = 2; !taken_.insert(name).second; ++i) name = fmt::format("{}.{}", wanted, i);
  return name;
}

}  // namespace convlab
