#pragma once

#include <string_view>
#include <vector>

#include "convlab/model/onnx/onnx_meaning.h"
#include "convlab/model/onnx/onnx_writer.h"

namespace convlab {

/// Returns the reader of an operator in ONNX's own domain, or nullptr.
OnnxReader find_onnx_reader(std::string_view op_type);

/// Returns the reader of an operator in ONNX Runtime's domain, com.microsoft, or nullptr.
OnnxReader find_microsoft_reader(std::string_view op_type);

/// Returns all names that find_onnx_reader() knows, sorted.
std::vector<std::string_view> onnx_operators();

/// Writes a node of the graph. Throws Error(bad_input) that names the node if ONNX cannot express it.
void write_onnx(OnnxWriter& writer, const Node& node);

}  // namespace convlab
