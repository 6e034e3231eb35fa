#include "convlab/plan/plan.h"

#include <map>
#include <optional>
#include <utility>

#include "convlab/model/shapes.h"
#include "convlab/plan/arrays.h"
#include "convlab/plan/choose.h"
#include "convlab/plan/fused_conv.h"
#include "convlab/plan/layouts.h"
#include "convlab/plan/request.h"
#include "convlab/rewrite/readers.h"

namespace convlab {
namespace {

PlanRequest request_for(const Graph& graph, const Shape& input_shape, const DeviceCaps& caps,
                        const PlanOptions& options) {
  std::vector<Shape> shapes = infer_shapes(graph, input_shape);
  PlanRequest request{graph, caps, options, std::move(shapes), candidates(caps, options), Readers(graph)};
  request.layouts = inner_layouts(input_shape, caps, options, request.candidates);
  return request;
}

struct Operand {
  size_t array;
  Shape shape;
  bool constant = false;
};

/// Turns nodes into steps, in their order.
class Planner {
 public:
  Planner(const Graph& graph, const Shape& input_shape, const DeviceCaps& caps, const PlanOptions& options)
      : graph_(graph),
        request_(request_for(graph, input_shape, caps, options)),
        arrays_(request_),
        done_(graph.nodes.size()) {
    plan_ = {.options = options, .device = caps.kind, .input = input_shape, .output = shape_of(graph.output)};
  }

  Plan run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (done_[i]) continue;
      const Node& node = graph_.nodes[i];
      if (is_alias(node.op)) {
        arrays_.share(node.output, node.inputs[0]);
      } else if (std::holds_alternative<ConvOp>(node.op)) {
        plan_conv(i);
      } else if (std::holds_alternative<ScaleOp>(node.op)) {
        plan_scaling(node);
      } else {
        plan_op(node);
      }
    }
    const Operand output = operand(graph_.output);
    if (arrays_[output.array].location.place != Location::Place::output) {
      // No step has written it: it is the input, scaled or raw, or a constant.
      emit_op(step_of(ActivationOp{}, {output}, output.shape), {output}, arrays_.add_output(), "output");
    }
    arrays_.place(plan_);
    return std::move(plan_);
  }

 private:
  const Shape& shape_of(ValueId value) const { return request_.shape_of(value); }
  bool is_pixels(size_t array) const { return arrays_[array].pixels; }

  Operand operand(ValueId value) { return {arrays_.of(value), shape_of(value), graph_.constants.contains(value)}; }

  /// The same, or, if it is pixels, their float32 copy, made once.
  Operand float_operand(ValueId value) {
    const Operand pixels = operand(value);
    if (!is_pixels(pixels.array)) return pixels;
    const auto [found, is_new] = floats_of_.try_emplace(pixels.array, 0);
    if (is_new) {
      found->second = arrays_.add_scratch(pixels.shape);
      emit_op(step_of(ActivationOp{}, {pixels}, pixels.shape), {pixels}, found->second,
              graph_.value_names[static_cast<size_t>(root_of(graph_, value))]);
    }
    return {found->second, pixels.shape};
  }

  void plan_conv(size_t place) {
    const FusedConv fused = fused_conv_from(request_, place);
    for (const size_t node : fused.nodes) done_[node] = true;
    const std::vector<ValueId>& values = graph_.nodes[place].inputs;
    size_t x = arrays_.of(values[0]);
    const ConvChoice choice = choose(request_, fused, is_pixels(x), arrays_[x].layout);
    const Epilogue &wanted = fused.step.epilogue, &taken = choice.step.epilogue;
    if (choice.step.input == ElementType::f32) x = float_operand(values[0]).array;
    std::vector<size_t> inputs{x, arrays_.of(values[1])};
    if (taken.bias) inputs.push_back(arrays_.of(values[2]));

    const bool complete = taken == wanted;
    const Shape y = choice.step.output_shape();
    const size_t array = complete ? arrays_.add(fused.output, choice.step.output_layout) : arrays_.add_scratch(y);
    emit_conv(choice, std::move(inputs), array, fused.name_with(taken));
    if (!complete) plan_rest(fused, taken, {array, y});
  }

  /// What the convolution's kernel refused becomes separate steps; the kernel has left `x`, with `taken` done.
  void plan_rest(const FusedConv& fused, const Epilogue& taken, Operand x) {
    const Epilogue& wanted = fused.step.epilogue;
    std::vector<std::pair<std::string, Op>> rest;
    if (wanted.bias && !taken.bias) rest.emplace_back(fused.conv_name + ".bias", AddOp{});
    if (wanted.pool) rest.emplace_back(fused.pool_name, PoolOp{*wanted.pool});
    if (wanted.activation.kind != ActivationKind::none) {
      rest.emplace_back(fused.activation_name, ActivationOp{wanted.activation});
    }
    for (size_t i = 0; i < rest.size(); ++i) {
      const auto& [name, op] = rest[i];
      std::vector<Operand> operands{x};
      if (std::holds_alternative<AddOp>(op)) {
        const ValueId bias = graph_.nodes[fused.nodes[0]].inputs[2];
        operands.push_back({arrays_.of(bias), {x.shape[1], 1, 1}, true});
      }
      const Shape y = std::holds_alternative<PoolOp>(op) ? fused.step.output_shape() : x.shape;
      const size_t array = i + 1 == rest.size() ? arrays_.add(fused.output) : arrays_.add_scratch(y);
      emit_op(step_of(op, operands, y), operands, array, name);
      x = {array, y};
    }
  }

  void plan_op(const Node& node) {
    Op op = node.op;
    if (auto* pool = std::get_if<PoolOp>(&op)) *pool = {resolved_pool(*pool, shape_of(node.inputs[0]))};
    const bool takes_pixels = std::holds_alternative<ActivationOp>(op);
    std::vector<Operand> operands;
    for (const ValueId input : node.inputs) operands.push_back(takes_pixels ? operand(input) : float_operand(input));
    OpStep step = step_of(op, operands, shape_of(node.output));
    std::string name = node.name;
    ValueId output = node.output;
    if (const std::optional<size_t> place = activation_with(node, step)) {
      const Node& activation = graph_.nodes[*place];
      step.activation = std::get<ActivationOp>(activation.op).activation;
      name += "+" + activation.name;
      output = activation.output;
      done_[*place] = true;
    }
    if (step.input_layout != Layout::plain) step.output_layout = op_output_layout(request_, step, output);
    emit_op(step, operands, arrays_.add(output, step.output_layout), std::move(name));
  }

  void plan_scaling(const Node& node) {
    const Operand x = operand(node.inputs[0]);
    emit_op(step_of(node.op, {x}, shape_of(node.output)), {x}, arrays_.add_pixels(node.output), node.name);
  }

  /// The place of the activation after a dense layer, if a kernel computes both in one step.
  std::optional<size_t> activation_with(const Node& node, OpStep step) const {
    if (request_.options.mode == PlanMode::layers || !std::holds_alternative<GemmOp>(node.op)) return std::nullopt;
    const std::optional<size_t> next = request_.readers.only(node.output);
    const auto* op = next ? std::get_if<ActivationOp>(&graph_.nodes[*next].op) : nullptr;
    if (op == nullptr) return std::nullopt;
    step.activation = op->activation;
    return find_op_kernel(step, request_.caps.kind, request_.options.math) != nullptr ? next : std::nullopt;
  }

  /// An operator's step, to a plain output.
  OpStep step_of(const Op& op, const std::vector<Operand>& operands, const Shape& output) const {
    OpStep step{.op = op, .output = output};
    for (const Operand& operand : operands) {
      step.inputs.push_back(operand.shape);
      step.constant.push_back(operand.constant);
    }
    const PlanArray& x = arrays_[operands[0].array];
    if (x.pixels) step.input = ElementType::u8;
    step.input_layout = x.layout;
    if (x.layout != Layout::plain) step.written = x.written;
    return step;
  }

  void emit_op(OpStep step, const std::vector<Operand>& operands, size_t output, std::string name) {
    std::vector<size_t> inputs;
    for (const Operand& operand : operands) inputs.push_back(operand.array);
    const OpKernel& kernel = choose_op_kernel(step, request_.caps.kind, request_.options.math);
    PlanStep result{.name = std::move(name), .op = &kernel};
    if (kernel.prepared_bytes != nullptr) result.prepared_bytes = kernel.prepared_bytes(step);
    if (kernel.workspace_bytes != nullptr) result.workspace_bytes = kernel.workspace_bytes(step);
    result.what = std::move(step);
    emit(std::move(result), std::move(inputs), output);
  }

  void emit_conv(const ConvChoice& choice, std::vector<size_t> inputs, size_t output, std::string name) {
    const ConvKernel& kernel = *choice.kernel;
    PlanStep result{.name = std::move(name), .what = choice.step, .conv = &kernel};
    result.refused = refused_besides(request_, choice);
    if (kernel.prepared_bytes != nullptr) result.prepared_bytes = kernel.prepared_bytes(choice.step, request_.caps);
    if (kernel.workspace_bytes != nullptr) result.workspace_bytes = kernel.workspace_bytes(choice.step, request_.caps);
    emit(std::move(result), std::move(inputs), output);
  }

  void emit(PlanStep step, std::vector<size_t> inputs, size_t output) {
    arrays_.note_step(std::move(inputs), output);
    plan_.steps.push_back(std::move(step));
  }

  const Graph& graph_;
  const PlanRequest request_;
  PlanArrays arrays_;
  std::vector<bool> done_;              // by node: an earlier node's step computes it, too
  std::map<size_t, size_t> floats_of_;  // by array of pixels: its copy
  Plan plan_;
};

}  // namespace

Plan make_plan(const Graph& graph, const Shape& input_shape, const DeviceCaps& caps, const PlanOptions& options) {
  return Planner(graph, input_shape, caps, options).run();
}

}  // namespace convlab
