#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "convlab/base/text_reader.h"
#include "convlab/model/op.h"

namespace convlab {

/// An attribute of an operator as problem texts have it (see kernels/step_text.h).
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

/// The fields of one operator, added in the order of its text.
class OpFields {
 public:
  std::vector<OpField> all;

  void add(const std::string& name, int64_t& value);
  void add(const std::string& name, int& value);
  void add(const std::string& name, float& value);
  void add(const std::string& name, std::vector<int64_t>& values);
  void add(const std::string& name, std::vector<float>& values);

  /// Sizes that are written as one number if they are equal: "st2" or "st2x1".
  void add_sizes(const std::string& name, const char* syntax, const std::vector<int64_t*>& sizes);
  void add_pair(const std::string& name, int64_t& height, int64_t& width) { add_sizes(name, "HxW", {&height, &width}); }

  void add_flag(const std::string& name, bool& value);

  /// An enumerator. `names` are those of all values, in order.
  template <class Enum>
  void add_choice(Enum& value, std::vector<std::string> names) {
    add_choice(static_cast<size_t>(value), std::move(names),
               [&value](size_t chosen) { value = static_cast<Enum>(chosen); });
  }

  /// A value that determines the operator's name.
  template <class Kind>
  void add_kind(const Kind& kind) {
    all.push_back({.form = OpField::Form::in_name, .value = fmt::format("{}", static_cast<int64_t>(kind))});
  }

  /// A window's sizes: "r3s5".
  void add_window(int64_t& height, int64_t& width);

  /// Pads, strides and dilations, which pooling and convolution have in common.
  void add_steps(auto& window) {
    add_pads(window);
    add_pair("st", window.stride_h, window.stride_w);
    add_pair("d", window.dilation_h, window.dilation_w);
  }
  void add_pads(auto& window) {
    add_sizes("p", "TxLxBxR", {&window.pad_top, &window.pad_left, &window.pad_bottom, &window.pad_right});
  }
  void add_auto_pad(AutoPad& pad) { add_choice(pad, {"explicit", "sameupper", "samelower", "valid"}); }
  void add_conv(ConvOp& conv);

  /// An Einsum equation: "ij,jk=ik".
  void add_equation(std::string& equation);

 private:
  void add_choice(size_t chosen, std::vector<std::string> names, const std::function<void(size_t)>& choose);
};

/// Returns the shortest text that reads back as the same number.
std::string text_of(float value);

}  // namespace convlab
