#pragma once

#include <span>
#include <string_view>

#include "convlab/model/op_info.h"

namespace convlab {

/// Returns the operators' names in problem texts. Several may be of one type, such as MaxPool and AveragePool.
std::span<const NamedOp> named_ops();

/// Returns the operator of this name, which may also be ONNX's in lower case; nullptr if there is none.
const NamedOp* find_named_op(std::string_view name);

}  // namespace convlab
