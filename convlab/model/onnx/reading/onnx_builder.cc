// Builds a graph from the nodes of an ONNX model, and evaluates what is known at import.

#include "convlab/model/onnx/reading/onnx_builder.h"

#include <algorithm>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/base/half.h"
#include "convlab/base/text.h"
#include "convlab/model/onnx/onnx.pb.h"
#include "convlab/model/onnx/onnx_images.h"
#include "convlab/model/onnx/onnx_tensor.h"
#include "convlab/model/onnx/reading/constant_folding.h"
#include "convlab/model/onnx/reading/known_values.h"
#include "convlab/model/shapes.h"

namespace convlab {
namespace {

/// Limits the bytes of constants that nodes compute from other constants, per byte of the model: enough to cast and
/// rearrange all weights a few times, while a small model cannot exhaust memory.
constexpr size_t kConstantBytesPerByte = 16, kConstantBytesAlways = 1 << 20;

/// Returns the rank of an operator's output, if it follows from its operands' ranks.
std::optional<int64_t> output_rank(const Op& op, const std::vector<OnnxValue*>& operands) {
  if (std::holds_alternative<GemmOp>(op) || std::holds_alternative<FlattenOp>(op)) return 2;
  if (const auto* reshape = std::get_if<ReshapeOp>(&op)) return std::ssize(reshape->shape);
  int64_t most = 0;
  for (const OnnxValue* operand : operands) {
    if (!operand->rank) return std::nullopt;
    most = std::max(most, *operand->rank);
  }
  if (const auto* squeeze = std::get_if<SqueezeOp>(&op)) {
    const int64_t rank = *operands[0]->rank - std::ssize(squeeze->axes);
    if (squeeze->axes.empty() || rank < 0) return std::nullopt;  // too many axes: shape inference reports that
    return rank;
  }
  // Replace unknown sizes by any: most operators' ranks do not depend on them.
  std::vector<Shape> shapes;
  constexpr int64_t kAnySize = 5040;
  for (const OnnxValue* operand : operands) {
    shapes.push_back(operand->constant ? operand->constant->shape()
                                       : Shape(static_cast<size_t>(*operand->rank), kAnySize));
  }
  try {
    return std::ssize(output_shape(op, shapes));
  } catch (const Error&) {
    const bool broadcasts = std::holds_alternative<AddOp>(op) || std::holds_alternative<MulOp>(op) ||
                            std::holds_alternative<BinaryOp>(op) || std::holds_alternative<WhereOp>(op);
    return broadcasts ? most : *operands[0]->rank;
  }
}

/// Returns the result's shapes. Returns nullopt if an operand's shapes are unknown, if the result's are not linear in
/// the batch size, or if the operator does not accept them: a model may be made for one batch size.
std::optional<ByTrial<Shape>> output_shapes(const Op& op, const std::vector<OnnxValue*>& operands) {
  if (!std::ranges::all_of(operands, [](const OnnxValue* operand) { return operand->shapes.has_value(); })) {
    return std::nullopt;
  }
  const auto for_images = [&](int64_t images) {
    std::vector<Shape> shapes;
    for (const OnnxValue* operand : operands) shapes.push_back(*at_images(*operand->shapes, images));
    return output_shape(op, shapes);
  };
  try {
    const ByTrial<Shape> shapes{for_images(kTrialImages[0]), for_images(kTrialImages[1])};
    return is_linear(shapes, for_images) ? std::optional(shapes) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// Whether an operator moves elements, adds them, or multiplies them by constants. Its result is then linear in the
/// batch size if its operands are, even if the number of elements depends on the batch size.
bool keeps_linear(const Op& op, const std::vector<OnnxValue*>& operands) {
  const auto depends = [](const OnnxValue* operand) { return operand->trial.has_value(); };
  if (std::holds_alternative<MulOp>(op)) return std::ranges::count_if(operands, depends) == 1;
  if (const auto* unary = std::get_if<UnaryOp>(&op)) return unary->kind == UnaryKind::neg;
  if (const auto* binary = std::get_if<BinaryOp>(&op)) return binary->kind == BinaryKind::subtract;
  return std::holds_alternative<AddOp>(op) || std::holds_alternative<ReshapeOp>(op) ||
         std::holds_alternative<FlattenOp>(op) || std::holds_alternative<SqueezeOp>(op) ||
         std::holds_alternative<UnsqueezeOp>(op) || std::holds_alternative<TransposeOp>(op) ||
         std::holds_alternative<ConcatOp>(op);
}

/// Returns a constant cast to this type as by ONNX's Cast.
Tensor cast(const Tensor& tensor, int32_t onnx_type) {
  if (onnx_type == onnx::TensorProto::BOOL) {
    const Tensor wide = converted(tensor, ElementType::f64);
    Tensor truth(ElementType::u8, tensor.shape());
    std::ranges::transform(wide.values<double>(), truth.values<uint8_t>().begin(),
                           [](double value) -> uint8_t { return value != 0; });
    return truth;
  }
  Tensor result = converted(tensor, element_type(onnx_type));
  if (onnx_type == onnx::TensorProto::BFLOAT16) {
    for (float& value : result.values<float>()) value = rounded_to_brain(value);
  }
  return result;
}

/// Returns a constant as the graph stores it. Integers must be exact in float32.
Tensor as_float(Tensor tensor) {
  if (tensor.type() == ElementType::f32) return tensor;
  if (!is_real(tensor.type())) {
    constexpr int64_t kExact = int64_t{1} << 24;
    const Tensor wide = converted(tensor, ElementType::i64);
    for (const int64_t value : wide.values<int64_t>()) {
      if (value > kExact || value < -kExact) {
        throw bad_input("integer {0} is outside the range that float32 represents exactly (-{1} to {1})", value,
                        kExact);
      }
    }
  }
  return converted(tensor, ElementType::f32);
}

}  // namespace

OnnxBuilder::OnnxBuilder(std::string name, size_t file_bytes)
    : constant_bytes_left_(file_bytes * kConstantBytesPerByte + kConstantBytesAlways) {
  graph_.name = std::move(name);
}

void OnnxBuilder::add_bytes(size_t bytes) { constant_bytes_left_ += bytes * kConstantBytesPerByte; }

OnnxValue& OnnxBuilder::store(const std::string& name, int32_t onnx_type) {
  return values_.emplace_back(OnnxValue{.name = name, .onnx_type = onnx_type, .type = element_type(onnx_type)});
}

OnnxValue& OnnxBuilder::input(const std::string& name, int32_t onnx_type, const Shape& shape) {
  OnnxValue& value = store(name, onnx_type);
  value.rank = std::ssize(shape);
  value.id = graph_.add_value(printable(name));
  if (std::count(shape.begin() + (shape.empty() ? 0 : 1), shape.end(), -1) > 0) return value;
  ByTrial<Shape>& shapes = value.shapes.emplace(ByTrial<Shape>{shape, shape});
  if (shape.empty() || shape[0] != -1) return value;
  for (size_t i = 0; i < shapes.size(); ++i) shapes[i][0] = kTrialImages[i];
  if (images_ == nullptr) images_ = &value;
  return value;
}

OnnxValue& OnnxBuilder::images() {
  if (images_ == nullptr)
    throw bad_input("the batch size must be dynamic, but no model input has a dynamic batch size");
  return *images_;
}

OnnxValue& OnnxBuilder::constant(const std::string& name, int32_t onnx_type, Tensor tensor) {
  OnnxValue& value = store(name, onnx_type);
  value.rank = std::ssize(tensor.shape());
  value.shapes = ByTrial<Shape>{tensor.shape(), tensor.shape()};
  value.constant = std::move(tensor);
  return value;
}

OnnxValue& OnnxBuilder::refused(const std::string& name) {
  return values_.emplace_back(OnnxValue{.name = name, .refused = true});
}

/// Stores a value known by trials. If both trials are equal, it is a constant.
OnnxValue& OnnxBuilder::trial(const std::string& name, int32_t onnx_type, OnnxTrial tensors) {
  if (same_elements(tensors[0], tensors[1])) return constant(name, onnx_type, std::move(tensors[0]));
  OnnxValue& value = store(name, onnx_type);
  value.shapes = ByTrial<Shape>{tensors[0].shape(), tensors[1].shape()};
  value.rank = std::ssize(tensors[0].shape());
  value.trial = std::move(tensors);
  return value;
}

/// Counts a constant that is computed from others. Throws if all of them together become too large.
void OnnxBuilder::count_constant(ElementType type, const Shape& shape) {
  const int64_t bytes = checked_mul(element_count(shape), static_cast<int64_t>(size_of(type)));
  if (static_cast<size_t>(bytes) > constant_bytes_left_) {
    throw bad_input("constants computed from other constants take far more memory than the model");
  }
  constant_bytes_left_ -= static_cast<size_t>(bytes);
}

std::vector<OnnxValue*> OnnxBuilder::add(OnnxMeaning meaning, const std::vector<OnnxValue*>& inputs,
                                         const std::string& node, const std::vector<std::string>& outputs) {
  const std::string& name = outputs[0];
  if (auto* tensor = std::get_if<Tensor>(&meaning)) {
    // Only the tensor's element type is known, not its original ONNX type.
    return {&constant(name, onnx_type(tensor->type()), std::move(*tensor))};
  }
  if (auto* tensors = std::get_if<OnnxTrial>(&meaning)) {
    return {&trial(name, onnx_type((*tensors)[0].type()), std::move(*tensors))};
  }
  if (const auto* passed = std::get_if<OnnxPassed>(&meaning)) return {passed_on(*inputs[0], passed->type, name)};
  if (auto* recipe = std::get_if<OnnxRecipe>(&meaning)) return carried_out(*recipe, inputs, node, outputs);
  auto& one = std::get<OnnxComputed>(meaning);
  Step step{.op = std::move(one.op), .type = one.type, .node = node, .output = name};
  for (size_t i = 0; i < one.operands; ++i) {
    if (inputs[i] == nullptr) throw bad_input("input {} is missing, but later inputs are present", i);
    step.operands.push_back(inputs[i]);
  }
  check_types(step);
  return {computed(std::move(step))};
}

OnnxValue* OnnxBuilder::passed_on(OnnxValue& input, int32_t type, const std::string& name) {
  if (type == input.onnx_type) return &input;  // a second name for the same value
  if (input.constant) {
    count_constant(element_type(type), input.constant->shape());
    return &constant(name, type, cast(*input.constant, type));
  }
  if (input.trial) {
    const auto rule = [type](const std::vector<const Tensor*>& operands) { return cast(*operands[0], type); };
    return &trial(name, type, *linear_result({&input}, false, rule));
  }
  OnnxValue& value = store(name, type);
  value.rank = input.rank;
  value.shapes = input.shapes;
  value.id = input.id;
  return &value;
}

std::vector<OnnxValue*> OnnxBuilder::carried_out(OnnxRecipe& recipe, const std::vector<OnnxValue*>& inputs,
                                                 const std::string& node, const std::vector<std::string>& outputs) {
  std::vector<OnnxValue*> values(inputs);
  values.resize(recipe.inputs(), nullptr);
  size_t number = 0;
  for (OnnxRecipe::Part& part : recipe.parts()) {
    const size_t place = values.size();
    const auto given = std::ranges::find(recipe.outputs(), place);
    const auto output = static_cast<size_t>(given - recipe.outputs().begin());
    const bool named = given != recipe.outputs().end() && output < outputs.size() && !outputs[output].empty();
    const std::string name = named ? outputs[output] : fmt::format("{}.{}", node, ++number);
    if (!part.step) {
      values.push_back(&constant(name, onnx_type(part.constant.type()), std::move(part.constant)));
      continue;
    }
    Step step{.op = std::move(part.step->op), .type = part.step->type, .output = name};
    step.node = number <= 1 && named ? node : fmt::format("{}.{}", node, number);
    for (const OnnxRecipe::Value operand : part.step->operands) {
      step.operands.push_back(operand == OnnxRecipe::kImages ? &images() : values[operand]);
    }
    values.push_back(computed(std::move(step)));
  }
  std::vector<OnnxValue*> results;
  for (const OnnxRecipe::Value output : recipe.outputs()) results.push_back(values[output]);
  return results;
}

OnnxValue* OnnxBuilder::computed(Step step) {
  const int32_t type = step.type.value_or(step.operands[0]->onnx_type);
  if (OnnxValue* result = known(step, type)) return result;
  Node node{.name = step.node};
  for (OnnxValue* operand : step.operands) node.inputs.push_back(use(*operand));
  OnnxValue& output = store(step.output, type);
  output.shapes = output_shapes(step.op, step.operands);
  output.rank = output.shapes ? std::ssize((*output.shapes)[0]) : output_rank(step.op, step.operands);
  node.op = std::move(step.op);
  node.output = output.id = graph_.add_value(printable(output.name));
  graph_.nodes.push_back(std::move(node));
  if (!is_real(output.type)) graph_.whole_types[output.id] = output.type;
  return &output;
}

/// Returns the result of a step whose operands are known, at least by trials; null if it is not evaluated here.
OnnxValue* OnnxBuilder::known(const Step& step, int32_t type) {
  const auto is_known = [](const OnnxValue* operand) { return operand->constant || operand->trial; };
  const auto is_trial = [](const OnnxValue* operand) { return operand->trial.has_value(); };
  if (!std::ranges::all_of(step.operands, is_known)) return nullptr;
  if (const auto* op = std::get_if<DequantizeOp>(&step.op); op != nullptr && op->block_size == 0) {
    return dequantized_constant(step, *op);
  }
  const auto typed = [type](std::optional<Tensor> result) {
    return result && result->type() != element_type(type) ? cast(*result, type) : std::move(result);
  };
  if (std::ranges::any_of(step.operands, is_trial)) {
    // Rules that move elements may return many, and are evaluated only for the two trials. Other known results are
    // small; their rules are evaluated for many batch sizes, and two results are kept.
    const bool moves = keeps_linear(step.op, step.operands);
    const auto rule = [&](const std::vector<const Tensor*>& tensors) {
      return typed(moves ? made_of(step.op, tensors) : known_result(step.op, tensors));
    };
    std::optional<OnnxTrial> results = linear_result({step.operands.begin(), step.operands.end()}, moves, rule);
    if (!results) return nullptr;
    for (const Tensor& each : *results) {
      if (!moves) count_constant(each.type(), each.shape());
    }
    return &trial(step.output, type, *std::move(results));
  }
  std::vector<const Tensor*> tensors;
  for (const OnnxValue* operand : step.operands) tensors.push_back(&*operand->constant);
  std::optional<Tensor> result = typed(made_of(step.op, tensors));
  return result ? &constant(step.output, type, *std::move(result)) : nullptr;
}

/// Returns a dequantized constant together with the integers that it is computed from; null if an operand is known only
/// by trials.
OnnxValue* OnnxBuilder::dequantized_constant(const Step& step, const DequantizeOp& op) {
  Constants operands;
  for (const OnnxValue* operand : step.operands) {
    if (!operand->constant) return nullptr;
    operands.push_back(*operand->constant);
  }
  const auto whole = std::make_shared<const WholeConstant>(whole_constant(op, operands));
  const Shape& shape = whole->whole.shape();
  count_constant(ElementType::f32, shape);
  Tensor real = Tensor::deferred(ElementType::f32, shape, [whole] { return dequantized(*whole); });
  OnnxValue& value = constant(step.output, onnx::TensorProto::FLOAT, std::move(real));
  value.whole = whole;
  return &value;
}

/// Returns the result of an operator on constants: any result of a few elements, or a rearrangement of any size.
/// Otherwise nullopt.
std::optional<Tensor> OnnxBuilder::made_of(const Op& op, const std::vector<const Tensor*>& operands) {
  if (std::optional<Tensor> result = known_result(op, operands)) {
    count_constant(result->type(), result->shape());
    return result;
  }
  Constants constants;
  for (const Tensor* operand : operands) constants.push_back(*operand);
  const std::optional<Shape> shape = rearranged_shape(op, constants);
  if (!shape) return std::nullopt;
  count_constant(operands[0]->type(), *shape);
  return rearranged(op, constants, *shape);
}

ValueId OnnxBuilder::use(OnnxValue& value) {
  if (value.trial) {
    throw open_size("'{}' depends only on the batch size; using it as data requires a fixed batch size",
                    printable(value.name));
  }
  if (value.id < 0) value.id = graph_.add_value(printable(value.name));
  return value.id;
}

/// Throws if the types of operands do not match: ONNX has no implicit conversions. (Parameters of normalization have
/// types of their own since opset 15; the exponent of Pow always has.)
void OnnxBuilder::check_types(const Step& step) {
  const auto* binary = std::get_if<BinaryOp>(&step.op);
  const bool one_type = std::holds_alternative<ConvOp>(step.op) || std::holds_alternative<ConvTransposeOp>(step.op) ||
                        std::holds_alternative<AddOp>(step.op) || std::holds_alternative<MulOp>(step.op) ||
                        std::holds_alternative<GemmOp>(step.op) || std::holds_alternative<MatMulOp>(step.op) ||
                        std::holds_alternative<ConcatOp>(step.op) ||
                        (binary != nullptr && binary->kind != BinaryKind::power);
  const bool chooses = std::holds_alternative<WhereOp>(step.op);
  const std::span<OnnxValue* const> alike = std::span(step.operands).subspan(chooses ? 1 : 0);  // without the condition
  const OnnxValue& first = *alike[0];
  for (const OnnxValue* operand : alike) {
    if (!(one_type || chooses) || operand->onnx_type == first.onnx_type) continue;
    throw bad_input("input types must match: '{}' is {}, '{}' is {}", printable(first.name),
                    onnx_type_name(first.onnx_type), printable(operand->name), onnx_type_name(operand->onnx_type));
  }
}

Graph OnnxBuilder::take() {
  for (OnnxValue& value : values_) {
    if (!value.constant || value.id < 0) continue;
    if (value.whole != nullptr) graph_.whole_constants.emplace(value.id, std::move(value.whole));
    try {
      graph_.constants.emplace(value.id, as_float(std::move(*value.constant)));
    } catch (const Error& error) {
      throw bad_input("constant '{}': {}", printable(value.name), error.what());
    }
  }
  drop_unused(graph_);
  std::vector<bool> read(graph_.value_names.size());
  for (const Node& node : graph_.nodes) {
    for (const ValueId input : node.inputs) read[static_cast<size_t>(input)] = true;
  }
  for (const GraphOutput& output : graph_.outputs) read[static_cast<size_t>(output.value)] = true;
  std::erase_if(graph_.inputs, [&](const GraphInput& input) { return !read[static_cast<size_t>(input.value)]; });
  return std::move(graph_);
}

}  // namespace convlab
