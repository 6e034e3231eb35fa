#pragma once

#include <string>
#include <unordered_map>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_value.h"

namespace convlab {

/// The names that nodes may use: those of their graph or function and, in a branch, those of the enclosing scopes.
class OnnxScope {
 public:
  explicit OnnxScope(const OnnxScope* outer) : outer_(outer) {}

  /// Records which node computes which value, to distinguish names that are defined too late from names that are never
  /// defined.
  void note_producers(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    for (const onnx::NodeProto& node : nodes) {
      for (const std::string& output : node.output()) producers_.emplace(output, &node);
    }
  }

  /// null: an input that a function's caller omits.
  void define(const std::string& name, OnnxValue* value) {
    if (name.empty()) throw bad_input("the name is empty");
    if (!names_.emplace(name, value).second) throw bad_input("the name is defined twice");
  }
  void define(const std::string& name, OnnxValue& value) { define(name, &value); }

  /// Records an output that a node can have in ONNX but that convlab does not compute.
  void note_missing(const std::string& name, std::string node) { missing_.emplace(name, std::move(node)); }

  void require_new(const std::string& name) const {
    if (names_.contains(name) || missing_.contains(name)) {
      throw bad_input("output '{}' is already defined", printable(name));
    }
  }

  /// Returns the value of a name that is defined in this scope; otherwise nullptr.
  OnnxValue* find(const std::string& name) const {
    const auto found = names_.find(name);
    return found != names_.end() ? found->second : nullptr;
  }

  /// Returns the value of a name in this or an enclosing scope. Throws Error(bad_input) that says why there is none.
  OnnxValue* value(const std::string& name) const {
    for (const OnnxScope* scope = this; scope != nullptr; scope = scope->outer_) {
      if (const auto found = scope->names_.find(name); found != scope->names_.end()) return found->second;
    }
    if (const auto missing = missing_.find(name); missing != missing_.end()) {
      throw bad_input("'{}', an additional output of {}, is not supported", printable(name), missing->second);
    }
    if (const auto later = producers_.find(name); later != producers_.end()) {
      const std::string node = later->second->name().empty() ? later->second->op_type() : later->second->name();
      throw bad_input("'{}' is used before node '{}' computes it: the nodes are out of order or form a cycle",
                      printable(name), printable(node));
    }
    throw bad_input("'{}' is not defined", printable(name));
  }

 private:
  const OnnxScope* outer_;
  std::unordered_map<std::string, OnnxValue*> names_;
  std::unordered_map<std::string, std::string> missing_;
  std::unordered_map<std::string, const onnx::NodeProto*> producers_;
};

}  // namespace convlab
