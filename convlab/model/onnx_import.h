#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "convlab/model/graph.h"

namespace convlab {

/// The graph of an ONNX model: opset 7 to 21, the operators of onnx_operators(), one input (float32, float16, or uint8
/// that the model casts) and one output, weights inside the file. float16 values are computed as float32; where the
/// model casts to float16, they are rounded. `name` becomes the graph's, and begins each message. Error(bad_input) that
/// names the place (node, operator and opset; initializer; input) and the reason. Memory stays within a small multiple
/// of the file's size.
Graph import_onnx(std::span<const uint8_t> bytes, std::string_view name);

}  // namespace convlab
