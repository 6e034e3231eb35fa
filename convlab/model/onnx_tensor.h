#pragma once

#include <string_view>

#include "convlab/tensor/tensor.h"

namespace onnx {
class TensorProto;
}

namespace convlab {

/// The tensor in its own element type, from raw_data or the typed fields; bool becomes uint8. Error(bad_input) naming
/// `name` where type, dimensions and data disagree, data is in another file, or the type is not one of Tensor's.
Tensor onnx_tensor(const onnx::TensorProto& proto, std::string_view name);

}  // namespace convlab
