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

// The readers of each theme.
std::span<const OnnxEntry> onnx_window_readers();
std::span<const OnnxEntry> onnx_elementwise_readers();
std::span<const OnnxEntry> onnx_along_readers();
std::span<const OnnxEntry> onnx_rearrange_readers();
std::span<const OnnxEntry> onnx_index_readers();
std::span<const OnnxEntry> onnx_shape_readers();
std::span<const OnnxEntry> onnx_quantized_readers();

// Of ONNX Runtime's own operators, by their names alone.
std::span<const OnnxEntry> onnx_microsoft_readers();

// Of quantized operators.
OnnxMeaning read_quantize(const OnnxNode& node);
OnnxMeaning read_dequantize(const OnnxNode& node);

/// Throws an error where the scale that is input i is known and is not above 0 and finite: a computed one is the
/// model's own affair.
void check_scale(const OnnxNode& node, size_t i);

/// Throws an error where an array and its zero point, if there is one, are of two types.
void check_zero(const OnnxNode& node, size_t array, size_t zero);

/// The levels of a type of whole numbers; an error where a quantized value cannot be of it.
WholeRange require_range(int32_t onnx_type);

/// One operator of so many operands, all of its inputs.
template <class One>
OnnxMeaning read_plain(const OnnxNode& node, size_t operands, One op) {
  node.check_inputs(operands, operands);
  return OnnxComputed{std::move(op), operands};
}

/// A list of axes: an attribute before opset `since`, an input from then on.
std::vector<int64_t> read_axes(const OnnxNode& node, int64_t since, size_t input);

}  // namespace convlab
