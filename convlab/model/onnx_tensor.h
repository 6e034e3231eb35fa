#pragma once

#include <cstdint>
#include <string>

#include "convlab/tensor/tensor.h"

namespace onnx {
class TensorProto;
}

namespace convlab {

/// A tensor of an ONNX file, raw or typed, as float32, float16, float64, int64, int32, uint8 or int8 (bool: uint8).
/// Error(bad_input) with the reason alone: another type, data in another file, a shape that does not fit the data
/// (checked before any allocation), a NaN.
Tensor read_tensor(const onnx::TensorProto& proto);

/// The element type for ONNX's number of a type. Error(bad_input) that says which are supported.
ElementType element_type(int32_t onnx_type);

/// "float32" for 1, "bfloat16" for 16, ...
std::string onnx_type_name(int32_t onnx_type);

}  // namespace convlab
