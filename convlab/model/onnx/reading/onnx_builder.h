#pragma once

#include <deque>
#include <string>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/model/onnx/onnx_meaning.h"
#include "convlab/model/onnx/onnx_value.h"

namespace convlab {

/// Builds the graph while an importer visits the nodes of a model: owns all values, evaluates what is known, and adds
/// nodes for everything else. The addresses of values do not change.
class OnnxBuilder {
 public:
  OnnxBuilder(std::string name, size_t file_bytes);

  Graph& graph() { return graph_; }

  /// Adds the bytes of external data to the size of the model.
  void add_bytes(size_t bytes);

  OnnxValue& input(const std::string& name, int32_t onnx_type, const Shape& shape);
  OnnxValue& constant(const std::string& name, int32_t onnx_type, Tensor tensor);
  OnnxValue& refused(const std::string& name);

  /// Adds a node with these inputs (null: absent), and returns its first outputs. Throws Error(bad_input) with only the
  /// reason.
  std::vector<OnnxValue*> add(OnnxMeaning meaning, const std::vector<OnnxValue*>& inputs, const std::string& node,
                              const std::vector<std::string>& outputs);

  /// Returns the value as an operand of the graph. A constant becomes a constant of the graph.
  ValueId use(OnnxValue& value);

  /// Returns the graph with its constants, without what no output needs.
  Graph take();

 private:
  struct Step {
    Op op;
    std::vector<OnnxValue*> operands;
    std::optional<int32_t> type;
    std::string node, output;
  };

  OnnxValue& images();
  OnnxValue& store(const std::string& name, int32_t onnx_type);
  void count_constant(ElementType type, const Shape& shape);
  OnnxValue& trial(const std::string& name, int32_t onnx_type, OnnxTrial tensors);
  OnnxValue* passed_on(OnnxValue& input, int32_t type, const std::string& name);
  std::vector<OnnxValue*> carried_out(OnnxRecipe& recipe, const std::vector<OnnxValue*>& inputs,
                                      const std::string& node, const std::vector<std::string>& outputs);
  OnnxValue* computed(Step step);
  OnnxValue* known(const Step& step, int32_t type);
  OnnxValue* dequantized_constant(const Step& step, const DequantizeOp& op);
  std::optional<Tensor> made_of(const Op& op, const std::vector<const Tensor*>& operands);
  static void check_types(const Step& step);

  Graph graph_;
  std::deque<OnnxValue> values_;
  OnnxValue* images_ = nullptr;  ///< the first input with a dynamic batch size
  size_t constant_bytes_left_;
};

}  // namespace convlab
