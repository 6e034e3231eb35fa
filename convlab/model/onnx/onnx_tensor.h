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

/// A tensor of an ONNX file, raw, typed or in a file beside the model, as float32, float16, float64, int64, int32,
/// uint8 or int8: bool becomes uint8, bfloat16 float32, and other integers the next wider type. Error(bad_input) with
/// the reason alone: another type, a shape that does not fit the data (checked before any allocation), a NaN.
Tensor read_tensor(const onnx::TensorProto& proto, ExternalFiles& files);

/// Puts a tensor's raw data, all of it, into an array.
using FillBytes = std::function<void(std::span<uint8_t>)>;

/// The same for a tensor with so many bytes of raw data that are not in `proto`.
Tensor read_raw_tensor(const onnx::TensorProto& proto, int64_t bytes, const FillBytes& fill);

/// The element type in which values of ONNX's type of this number are kept. Error(bad_input) that says which are
/// supported.
ElementType element_type(int32_t onnx_type);

/// ONNX's number of the type that is kept as this one by itself: float32 is 1.
int32_t onnx_type(ElementType type);

/// A tensor for an ONNX file, of ONNX's type of this number: a float, an integer or bool. Error(bad_input) for NaN,
/// which read_tensor() does not take.
onnx::TensorProto written_tensor(const std::string& name, int32_t onnx_type, const Tensor& tensor);

/// The whole numbers that ONNX's type of this number holds. Of 8 and 16 bits; nullopt for all others.
struct WholeRange {
  int low = 0, high = 0;
};
std::optional<WholeRange> whole_range(int32_t onnx_type);

/// "float32" for 1, "bfloat16" for 16, ...
std::string onnx_type_name(int32_t onnx_type);

}  // namespace convlab
