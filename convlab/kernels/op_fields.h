#pragma once

#include <functional>
#include <string>
#include <vector>

#include "convlab/base/text_reader.h"
#include "convlab/model/op.h"

namespace convlab {

/// An attribute of an operator as problem texts have it (see step_text.h).
struct OpField {
  enum class Form {
    value,    ///< name and value: "axis1"
    flag,     ///< the name, if the value is not the default: "ta"
    choice,   ///< the name of an enumerator: "linear"
    in_name,  ///< part of the operator's name: the kind of a reduction
  };
  Form form = Form::value;
  std::string name;                       ///< "axis"; "" for choices and for Einsum's equation
  std::string value;                      ///< the current value. Equal texts mean equal values
  std::string syntax = {};                ///< of the value, for documents: "HxW"
  std::vector<std::string> choices = {};  ///< all enumerators
  std::function<void(TextReader&)> read;  ///< sets the attribute from a text that begins at the value
  std::string item() const { return form == Form::flag ? name : name + value; }
};

/// Returns all attributes of the operator, in the order of its text. Their `read` refers to `op`.
std::vector<OpField> fields_of(Op& op);

/// Whether both are the same operator with the same attributes. NaN equals NaN, 0 does not equal -0, and spaces in an
/// Einsum equation do not matter. Members that an operator does not use do not matter either.
bool same_operator(const Op& a, const Op& b);

}  // namespace convlab
