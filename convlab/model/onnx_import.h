#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "convlab/model/graph.h"

namespace convlab {

/// Reads an ONNX model, opset 7 to 21, of one image-like input and one output, made of the operators of feed-forward
/// CNNs (the table in onnx_ops.cc). Whatever the file's float type, the graph is float32. Identity, Dropout and
/// Constant disappear, and so do casts of constants. Error(bad_input) that names node, operator, opset and reason for
/// anything else; `name` is what messages call the file.
Graph import_onnx(std::span<const uint8_t> bytes, std::string_view name);

}  // namespace convlab
