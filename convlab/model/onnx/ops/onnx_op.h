#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "convlab/model/onnx/onnx_meaning.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/onnx_writer.h"
#include "convlab/model/op_table.h"

namespace convlab {

/// The reader of an operator with this name in ONNX.
struct NamedOnnxReader {
  std::string_view name;
  OnnxReader read;
};
using OnnxReaders = std::vector<NamedOnnxReader>;

/// How operator T is read from ONNX, and written to it. The file of its family in model/onnx/ops specializes it, with
/// these static members:
///
///   OnnxReaders readers()                   of the ONNX operators that become T, alone or with others; {} if only
///                                           readers of other operators return T
///   void write(OnnxNodeWriter&, const T&)   writes what T needs besides its name and operands: attributes, further
///                                           inputs, types other than float32, the opset
///
/// Both throw Error(bad_input) with only the reason.
template <class T>
struct OnnxOp;

/// Operators of plans, which no model has.
struct NotInOnnx {
  static OnnxReaders readers() { return {}; }
  [[noreturn]] static void write(OnnxNodeWriter&, const Op&);
};

/// OnnxOp of any operator.
struct OnnxOpEntry {
  OnnxReaders readers;
  void (*write)(OnnxNodeWriter&, const Op&);

  template <class T>
  static OnnxOpEntry of();
  template <class Family>
  static std::vector<OnnxOpEntry> rows();
};

template <class T>
OnnxOpEntry OnnxOpEntry::of() {
  if constexpr (!requires { sizeof(OnnxOp<T>); }) {
    static_assert(!sizeof(T), "no OnnxOp<T> in the file of T's family in convlab/model/onnx/ops: see onnx_op.h");
    return {};
  } else {
    return {.readers = OnnxOp<T>::readers(),
            .write = [](OnnxNodeWriter& node, const Op& op) { OnnxOp<T>::write(node, *std::get_if<T>(&op)); }};
  }
}

/// Returns the readers of ONNX operators that become constants, nothing, or operators that have other readers.
OnnxReaders onnx_readers_without_op();

/// Returns the readers of ONNX Runtime's own operators, by name without domain.
OnnxReaders onnx_microsoft_readers();

// Parts of readers and writers that several files share.

/// Translates a node to one operator with `operands` operands, which are all inputs of the node.
template <class One>
OnnxMeaning read_plain(const OnnxNode& node, size_t operands, One op) {
  node.check_inputs(operands, operands);
  return OnnxComputed{std::move(op), operands};
}

/// Returns a list of axes: an attribute before opset `since`, an input from then on.
std::vector<int64_t> read_axes(const OnnxNode& node, int64_t since, size_t input);

/// Returns the number of window dimensions, from the filter at input `i`. 'kernel_shape', if present, must match the
/// filter.
size_t filter_dimensions(const OnnxNode& node, size_t i);

/// Reads and writes the attributes of a convolution, which quantized convolutions share.
ConvOp read_conv_op(const OnnxNode& node, size_t dimensions);
void write_conv(OnnxNodeWriter& node, const ConvOp& op);

/// Translates an operator with a window. The inputs in `images` have the window's dimensions. A one-dimensional window
/// becomes two-dimensional with a height of 1.
OnnxMeaning windowed(const OnnxNode& node, size_t dimensions, Op op, size_t operands,
                     std::initializer_list<size_t> images, std::optional<int32_t> type = std::nullopt);

OnnxMeaning read_quantize(const OnnxNode& node);
OnnxMeaning read_dequantize(const OnnxNode& node);

/// Throws if input i, a scale, is known and is not positive and finite. Computed scales are not checked.
void check_scale(const OnnxNode& node, size_t i);

/// Throws if an array and its zero point, if there is one, have different types.
void check_zero(const OnnxNode& node, size_t array, size_t zero);

/// Returns the range of an integer type. Throws if quantized values cannot have it.
WholeRange require_range(int32_t onnx_type);

}  // namespace convlab
