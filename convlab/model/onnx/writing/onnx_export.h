#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// The graph as an ONNX model: opset 13 and IR version 8, or later ones where operators need them; float32 weights;
/// inputs and outputs with their names and types; open sizes symbolic. Metadata is kept. What import_onnx() reads from
/// it computes the same. Error(bad_input) that names the node for what ONNX cannot express: a Softmax over several
/// dimensions together whose sizes are open, whole numbers of a type that nothing tells, a constant that is NaN.
std::vector<uint8_t> export_onnx(const Graph& graph);

}  // namespace convlab
