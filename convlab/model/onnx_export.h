#pragma once

#include <cstdint>
#include <vector>

#include "convlab/model/graph.h"

namespace convlab {

/// The graph as an ONNX model: opset 13, IR version 8, float32 weights, the sizes that the graph leaves open symbolic.
/// Metadata is kept. What import_onnx() reads from it computes the same. Error(bad_input) for what opset 13 cannot say
/// (Softmax over several dimensions together, dilated average pooling).
std::vector<uint8_t> export_onnx(const Graph& graph);

}  // namespace convlab
