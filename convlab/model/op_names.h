#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/model/op.h"
#include "convlab/model/size_letters.h"

namespace convlab {

/// An operator's name in problem texts.
struct NamedOp {
  std::string_view name;                 ///< "maxpool"
  Op op;                                 ///< has the values of attributes that a text omits
  const SizeLetters* letters = nullptr;  ///< the short form of its operands, if it has one
  bool in_plans_only = false;            ///< the planner makes it; no model has it
};

/// Returns all of them. Several may be of one type, such as MaxPool and AveragePool.
std::span<const NamedOp> named_ops();

/// Returns the operator of this name, which may also be ONNX's in lower case; nullptr if there is none.
const NamedOp* find_named_op(std::string_view name);

}  // namespace convlab
