#pragma once

#include <deque>
#include <string>
#include <vector>

#include "convlab/model/graph.h"
#include "convlab/model/onnx/reading/onnx_ops.h"
#include "convlab/model/onnx/reading/onnx_value.h"

namespace convlab {

/// Builds the graph while an importer goes through a model: owns all values, works out what is known, and adds nodes
/// for the rest. Values stay where they are.
class OnnxBuilder {
 public:
  OnnxBuilder(std::string name, size_t file_bytes);

  Graph& graph() { return graph_; }

  /// Says that the model has more bytes than its file: those of weights in others.
  void add_bytes(size_t bytes);

  OnnxValue& input(const std::string& name, int32_t onnx_type, const Shape& shape);
  OnnxValue& constant(const std::string& name, int32_t onnx_type, Tensor tensor);
  OnnxValue& refused(const std::string& name);

  /// What a node with these inputs (null: absent) gives, its first outputs. Error(bad_input) with the reason alone.
  std::vector<OnnxValue*> add(OnnxMeaning meaning, const std::vector<OnnxValue*>& inputs, const std::string& node,
                              const std::vector<std::string>& outputs);

  /// The value as an operand of the graph: a constant becomes one of the graph's.
  ValueId use(OnnxValue& value);

  /// The graph, with its constants, without what no output needs.
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
  OnnxValue* images_ = nullptr;  ///< the first input whose number of images is open
  size_t constant_bytes_left_;
};

}  // namespace convlab
