#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/model/import_model.h"

namespace convlab {

/// A model from x (by default N x 4 x 6 x 6) to y, with some constants.
class ShapeModel : public OnnxModel {
 public:
  explicit ShapeModel(const Shape& shape = {-1, 4, 6, 6}) : OnnxModel(15) {
    input("x", shape).output("y").node("Shape", {"x"}, {"shape"});
  }
  ShapeModel& list(const std::string& name, const std::vector<int64_t>& values) {
    initializer(name, integers({std::ssize(values)}, values));
    return *this;
  }
  ShapeModel& number(const std::string& name, int64_t value) {
    initializer(name, integers({}, {value}));
    return *this;
  }
  ShapeModel& then(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    node(op, inputs, {output});
    return *this;
  }
  ShapeModel& attribute_of_last(const char* name, int64_t value) {
    set(name, value);
    return *this;
  }
  /// The size of x along an axis, as a one-element list.
  ShapeModel& size(int64_t axis, const std::string& output) {
    number(output + "_axis", axis).list(output + "_zero", {0});
    then("Gather", {"shape", output + "_axis"}, output + "_number");
    return then("Unsqueeze", {output + "_number", output + "_zero"}, output);
  }
  ShapeModel& concat(const std::vector<std::string>& inputs, const std::string& output) {
    return then("Concat", inputs, output).attribute_of_last("axis", 0);
  }

  Graph graph() const { return import(*this); }
  std::string refusal() const { return convlab::refusal(*this); }
};

}  // namespace convlab
