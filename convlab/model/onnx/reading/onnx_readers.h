#pragma once

#include <span>
#include <string_view>

#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/reading/onnx_ops.h"

namespace convlab {

/// The reader of one operator.
struct OnnxEntry {
  std::string_view name;
  OnnxReader read;
};

// The readers by topic.
std::span<const OnnxEntry> onnx_window_readers();
std::span<const OnnxEntry> onnx_elementwise_readers();
std::span<const OnnxEntry> onnx_along_readers();
std::span<const OnnxEntry> onnx_rearrange_readers();
std::span<const OnnxEntry> onnx_index_readers();
std::span<const OnnxEntry> onnx_shape_readers();
std::span<const OnnxEntry> onnx_quantized_readers();

// ONNX Runtime's own operators, by name without domain.
std::span<const OnnxEntry> onnx_microsoft_readers();

// Quantized operators.
OnnxMeaning read_quantize(const OnnxNode& node);
OnnxMeaning read_dequantize(const OnnxNode& node);

/// Throws if input i, a scale, is known and is not positive and finite. Computed scales are not checked.
void check_scale(const OnnxNode& node, size_t i);

/// Throws if an array and its zero point, if there is one, have different types.
void check_zero(const OnnxNode& node, size_t array, size_t zero);

/// Returns the range of an integer type. Throws if quantized values cannot have it.
WholeRange require_range(int32_t onnx_type);

/// Translates a node to one operator with `operands` operands, which are all inputs of the node.
template <class One>
OnnxMeaning read_plain(const OnnxNode& node, size_t operands, One op) {
  node.check_inputs(operands, operands);
  return OnnxComputed{std::move(op), operands};
}

/// Returns a list of axes: an attribute before opset `since`, an input from then on.
std::vector<int64_t> read_axes(const OnnxNode& node, int64_t since, size_t input);

}  // namespace convlab
