#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/model/onnx/onnx_value.h"

namespace convlab {

/// The translation of a node to several operators, possibly with several outputs. Values are numbers: first the node's
/// inputs, then the results of add() and constant().
class OnnxRecipe {
 public:
  using Value = size_t;
  static constexpr Value kImages = SIZE_MAX;  ///< an input of the model that holds the images

  struct Step {
    Op op;
    std::vector<Value> operands;
    std::optional<int32_t> type;  ///< ONNX type of the result; nullopt: the first operand's
  };
  struct Part {  ///< a step, or a constant
    std::optional<Step> step;
    Tensor constant;
  };

  explicit OnnxRecipe(size_t inputs) : inputs_(inputs) {}

  Value add(Op op, std::vector<Value> operands, std::optional<int32_t> type = std::nullopt) {
    parts_.push_back({.step = Step{std::move(op), std::move(operands), type}});
    return inputs_ + parts_.size() - 1;
  }
  Value constant(Tensor tensor) {
    parts_.push_back({.constant = std::move(tensor)});
    return inputs_ + parts_.size() - 1;
  }
  Value constant(float number) { return constant(Tensor::of<float>({}, {{number}})); }

  /// Makes the value the node's next output.
  void give(Value value) { outputs_.push_back(value); }

  size_t inputs() const { return inputs_; }
  std::vector<Part>& parts() { return parts_; }
  const std::vector<Value>& outputs() const { return outputs_; }

 private:
  size_t inputs_;
  std::vector<Part> parts_;
  std::vector<Value> outputs_;
};

}  // namespace convlab
