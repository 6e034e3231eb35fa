#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "convlab/model/onnx/onnx_external.h"
#include "convlab/tensor/tensor.h"

namespace onnx {
class TensorProto;
}

namespace convlab {

/// Reads a tensor of an ONNX file from raw_data, a typed field or external data, as float32, float16, float64, int64,
/// int32, uint8 or int8: bool becomes uint8, bfloat16 becomes float32, and other integers become the next wider type.
/// Throws Error(bad_input) with only the reason: another type, a shape that does not fit the data (checked before any
/// allocation), a NaN.
Tensor read_tensor(const onnx::TensorProto& proto, ExternalFiles& files);

/// Fills an array with all of a tensor's raw data.
using FillBytes = std::function<void(std::span<uint8_t>)>;

/// Reads a tensor with this many bytes of raw data that are not in `proto`.
Tensor read_raw_tensor(const onnx::TensorProto& proto, int64_t bytes, const FillBytes& fill);

/// Returns the element type that stores values of this ONNX type. Throws Error(bad_input) that lists the supported
/// types.
ElementType element_type(int32_t onnx_type);

/// Returns the ONNX type that this element type stores without conversion: 1 for float32.
int32_t onnx_type(ElementType type);

/// Returns a TensorProto of this ONNX type: a float, an integer or bool. Throws Error(bad_input) for NaN, which
/// read_tensor() does not accept.
onnx::TensorProto written_tensor(const std::string& name, int32_t onnx_type, const Tensor& tensor);

/// The range of an integer type of ONNX with 8 or 16 bits; nullopt for all other types.
struct WholeRange {
  int low = 0, high = 0;
};
std::optional<WholeRange> whole_range(int32_t onnx_type);

/// Returns "float32" for 1, "bfloat16" for 16, ...
std::string onnx_type_name(int32_t onnx_type);

}  // namespace convlab
