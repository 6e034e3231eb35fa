#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// Returns the graph as an ONNX model: opset 13 and IR version 8, or later ones if operators need them; float32
/// weights; inputs and outputs with their names and types; symbolic dimensions for dynamic sizes. Keeps the metadata.
/// import_onnx() returns an equivalent graph. Throws Error(bad_input) that names the node for what ONNX cannot express:
/// a Softmax over several dimensions together with dynamic sizes, integers of an unknown type, a constant that is NaN.
std::vector<uint8_t> export_onnx(const Graph& graph);

}  // namespace convlab
