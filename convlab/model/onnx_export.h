#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// The graph as an ONNX model: opset 13, IR version 8 (19 and 9 where an average pooling is dilated), float32 weights,
/// open sizes symbolic. Metadata is kept. What import_onnx() reads from it computes the same. Error(bad_input) for what
/// ONNX cannot express: a Softmax over several dimensions together whose sizes are open.
std::vector<uint8_t> export_onnx(const Graph& graph);

}  // namespace convlab
