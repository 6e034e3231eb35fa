#include "convlab/plan/plan.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "convlab/base/checked.h"
#include "convlab/base/error.h"
#include "convlab/kernels/registry.h"
#include "convlab/model/shapes.h"
#include "convlab/plan/arena.h"
#include "convlab/plan/choose.h"
#include "convlab/plan/evaluate.h"

namespace convlab {
namespace {

/// What a convolution and the nodes after it come to, in the order in which they are computed.
struct Chain {
  ConvStep step;
  ValueId output = -1;
  std::string conv_name, pool_name, activation_name;

  /// The names of the nodes in an epilogue that is the step's or a part of it.
  std::string name_with(const Epilogue& epilogue) const {
    std::string name = conv_name;
    if (epilogue.pool) name += "+" + pool_name;
    if (epilogue.activation.kind != ActivationKind::none) name += "+" + activation_name;
    return name;
  }
};

/// An array of the run. Several values share one where a node only reshapes.
struct Slot {
  Location location;  ///< place is final; an arena's address is found when all steps are known
  int64_t bytes = 0;
  Layout layout = Layout::plain;
  Shape written = {};             ///< the shape when it was written; of arrays in the arena
  bool pixels = false;            ///< uint8: the run's input, or scaled from it
  int64_t first = -1, last = -1;  ///< the steps that write and last read it
};

struct Operand {
  size_t slot;
  Shape shape;
  bool constant = false;
};

class Planner {
 public:
  Planner(const Graph& graph, const Shape& input_shape, const DeviceCaps& caps, const PlanOptions& options)
      : graph_(graph),
        caps_(caps),
        options_(options),
        shapes_(infer_shapes(graph, input_shape)),
        readers_(shapes_.size()),
        candidates_(candidates(caps, options)) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      for (ValueId input : graph.nodes[i].inputs) readers_[static_cast<size_t>(input)].push_back(i);
    }
    plan_ = {.options = options, .device = caps.kind, .input = input_shape, .output = shape_of(graph.output)};
  }

  Plan run() {
    slot_of_value_[graph_.input] = add_slot(Location::Place::input, 0);
    slots_.back().pixels = options_.input == ElementType::u8;
    output_root_ = root_of(graph_.output);
    done_.resize(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (done_[i]) continue;
      const Node& node = graph_.nodes[i];
      if (is_alias(node.op)) {
        slot_of_value_[node.output] = slot_of(node.inputs[0]);
      } else if (std::holds_alternative<ConvOp>(node.op)) {
        plan_conv(node);
      } else {
        plan_op(node);
      }
    }
    const size_t output = slot_of(graph_.output);
    if (slots_[output].location.place != Location::Place::output) {
      // Nothing computes the output: it is the input or a constant under another shape.
      const ElementType type = is_pixels(output) ? ElementType::u8 : ElementType::f32;
      emit_op({.op = ActivationOp{}, .input = type}, {{output, plan_.output}}, plan_.output,
              add_slot(Location::Place::output, 0), "output");
    }
    place();
    return std::move(plan_);
  }

 private:
  const Shape& shape_of(ValueId value) const { return shapes_[static_cast<size_t>(value)]; }

  static bool is_alias(const Op& op) {
    const auto* activation = std::get_if<ActivationOp>(&op);
    return only_reshapes(op) || (activation != nullptr && activation->activation.kind == ActivationKind::none);
  }

  /// The value whose array a value lives in.
  ValueId root_of(ValueId value) const {
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      if (graph_.nodes[i].output == value && is_alias(graph_.nodes[i].op)) value = graph_.nodes[i].inputs[0];
    }
    return value;
  }

  size_t add_slot(Location::Place place, int64_t at) {
    slots_.push_back({.location = {place, at}});
    return slots_.size() - 1;
  }
  size_t add_scratch(const Shape& shape, Layout layout = Layout::plain) {
    slots_.push_back({.bytes = layout_bytes(shape, layout), .layout = layout, .written = shape});
    return slots_.size() - 1;
  }

  size_t slot_of(ValueId value) {
    const auto found = slot_of_value_.find(value);
    if (found != slot_of_value_.end()) return found->second;
    const bool constant = graph_.constants.contains(value);
    return slot_of_value_[value] = add_slot(Location::Place::constant, constant ? value : -1);
  }

  /// The array that a node is to write.
  size_t slot_to_write(ValueId value, Layout layout = Layout::plain) {
    const size_t slot =
        value == output_root_ ? add_slot(Location::Place::output, 0) : add_scratch(shape_of(value), layout);
    return slot_of_value_[value] = slot;
  }

  bool is_pixels(size_t slot) const { return slots_[slot].pixels; }

  /// The array of a value, or a float32 copy of the pixels in it, made once.
  size_t as_floats(ValueId value) {
    const size_t slot = slot_of(value);
    if (!is_pixels(slot)) return slot;
    const auto [found, is_new] = floats_of_.try_emplace(slot, 0);
    if (is_new) {
      found->second = add_scratch(shape_of(value));
      emit_op({.op = ActivationOp{}, .input = ElementType::u8}, {{slot, shape_of(value)}}, shape_of(value),
              found->second, graph_.value_names[static_cast<size_t>(root_of(value))]);
    }
    return found->second;
  }

  Operand operand(ValueId value) { return {as_floats(value), shape_of(value), graph_.constants.contains(value)}; }

  /// The layouts in which a plan of this mode, math and batch has its values where their readers take it, best first.
  std::vector<Layout> inner_layouts() const {
    if (options_.mode == PlanMode::layers || plan_.input.empty()) return {};
    if (caps_.kind != DeviceKind::cpu) {
      return options_.math >= Math::fp16 ? std::vector{Layout::channel_blocks} : std::vector<Layout>{};
    }
    std::vector<Layout> layouts;
    if (plan_.input[0] < kLeastImagesInLanes) return layouts;
    for (const ConvKernel* kernel : candidates_) {
      const bool is_new = std::ranges::find(layouts, kernel->layout) == layouts.end();
      if (has_lanes(kernel->layout) && is_new) layouts.push_back(kernel->layout);
    }
    return layouts.empty() ? std::vector{Layout::image_lanes} : layouts;
  }

  /// The layout for a value that a kernel can write either way: the plan's best that everybody who reads it can read.
  Layout layout_for_readers(ValueId value) const {
    const std::vector<Layout> layouts = inner_layouts();
    const auto taken =
        std::ranges::find_if(layouts, [&](Layout layout) { return readers_take(layout, value, shape_of(value)); });
    return taken == layouts.end() ? Layout::plain : *taken;
  }
  bool readers_take(Layout layout, ValueId value, const Shape& written) const {
    if (value == graph_.output || shape_of(value)[0] != plan_.input[0]) return false;
    return std::ranges::all_of(readers_[static_cast<size_t>(value)], [&](size_t reader) {
      const Node& node = graph_.nodes[reader];
      if (node.inputs[0] != value) return false;
      return is_alias(node.op) ? readers_take(layout, node.output, written) : takes(layout, node, written);
    });
  }

  /// Whether the node can be computed from an input in this layout, at least without epilogue and to a plain output.
  bool takes(Layout layout, const Node& node, const Shape& written) const {
    if (const auto* conv = std::get_if<ConvOp>(&node.op)) {
      if (!keeps_order(layout) && written != shape_of(node.inputs[0])) return false;
      const ConvStep step{.problem = conv_problem(*conv, shape_of(node.inputs[0]), shape_of(node.inputs[1])),
                          .input_layout = layout};
      return std::ranges::any_of(candidates_, [&](const ConvKernel* kernel) {
        return kernel->layout == layout && !kernel->refuses(step, caps_);
      });
    }
    if (!std::holds_alternative<GemmOp>(node.op)) return false;
    OpStep step{.op = node.op, .output = shape_of(node.output), .input_layout = layout, .written = written};
    for (ValueId input : node.inputs) {
      step.inputs.push_back(shape_of(input));
      step.constant.push_back(graph_.constants.contains(input));
    }
    return find_op_kernel(step, caps_.kind, options_.math) != nullptr;
  }

  /// The node that alone reads a value, or nullptr; also where the value is the network's output.
  const Node* only_reader(ValueId value) const {
    const std::vector<size_t>& readers = readers_[static_cast<size_t>(value)];
    return value != graph_.output && readers.size() == 1 ? &graph_.nodes[readers[0]] : nullptr;
  }
  void mark_done(const Node& node) { done_[static_cast<size_t>(&node - graph_.nodes.data())] = true; }

  Chain chain_from(const Node& node) {
    Chain chain{.output = node.output, .conv_name = node.name};
    chain.step.problem = conv_problem(std::get<ConvOp>(node.op), shape_of(node.inputs[0]), shape_of(node.inputs[1]));
    Epilogue& epilogue = chain.step.epilogue;
    epilogue.bias = node.inputs.size() > 2;
    while (options_.mode != PlanMode::layers) {
      const Node* next = only_reader(chain.output);
      if (next == nullptr) break;
      const bool activates = epilogue.activation.kind != ActivationKind::none;
      if (const auto* pool = std::get_if<PoolOp>(&next->op); pool != nullptr && !epilogue.pool) {
        const Pool resolved = resolved_pool(*pool, shape_of(chain.output));
        // The largest of never decreasing functions is the function of the largest.
        if (activates && (resolved.kind != PoolKind::max || !epilogue.activation.monotonic())) break;
        epilogue.pool = resolved;
        chain.pool_name = next->name;
      } else if (const auto* op = std::get_if<ActivationOp>(&next->op); op != nullptr && !activates) {
        epilogue.activation = op->activation;
        chain.activation_name = next->name;
      } else {
        break;
      }
      chain.output = next->output;
      mark_done(*next);
    }
    return chain;
  }

  struct Choice {
    const ConvKernel* kernel;
    ConvStep step;  ///< as much of the chain's step as the kernel computes
  };

  /// The first candidate that computes the convolution at all, with as much of its epilogue as it takes.
  Choice choose(const Chain& chain, bool pixels, Layout x_layout) const {
    std::vector<Epilogue> parts{chain.step.epilogue, {.bias = chain.step.epilogue.bias}, {}};
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    std::string refusals;
    const Layout y_layout = layout_for_readers(chain.output);
    for (const ConvKernel* kernel : candidates_) {
      Refusal refusal = why_not_for_layout(*kernel, x_layout);
      if (refusal) continue;
      for (const Epilogue& part : parts) {
        for (const ElementType input : {ElementType::u8, ElementType::f32}) {
          if (input == ElementType::u8 && !pixels) continue;
          for (const Layout output : {y_layout, Layout::plain}) {
            if (output != Layout::plain && (output != kernel->layout || part != chain.step.epilogue)) continue;
            const ConvStep step{chain.step.problem, part, input, x_layout, output};
            refusal = kernel->refuses(step, caps_);
            if (!refusal) return {kernel, step};
          }
        }
      }
      refusals += fmt::format("{}{}: {}", refusals.empty() ? "" : "; ", kernel->info.name, *refusal);
    }
    const std::string text =
        fmt::format("{}: node '{}' (Conv, {}): ", graph_.name, chain.conv_name, to_text(chain.step.problem));
    if (!options_.kernel.empty()) throw bad_input("{}the kernel asked for does not fit: {}", text, refusals);
    throw unavailable("{}no kernel on {} computes it in {}: {}", text, name_of(caps_.kind), name_of(options_.math),
                      refusals.empty() ? "there is none" : refusals);
  }

  /// Why a kernel's way with layouts does not go with the plan's, if so.
  Refusal why_not_for_layout(const ConvKernel& kernel, Layout x_layout) const {
    if (x_layout != Layout::plain && kernel.layout != x_layout) return fmt::format("takes no {}", name_of(x_layout));
    if (!has_lanes(kernel.layout) || !inner_layouts().empty() || !options_.kernel.empty()) return std::nullopt;
    if (options_.mode == PlanMode::layers) return "is for plans that keep images in lanes from step to step";
    return fmt::format("is for batches of {} images or more: it computes 16 at a time", kLeastImagesInLanes);
  }

  void plan_conv(const Node& node) {
    const Chain chain = chain_from(node);
    size_t x = slot_of(node.inputs[0]);
    const Choice choice = choose(chain, is_pixels(x), slots_[x].layout);
    const Epilogue &wanted = chain.step.epilogue, &taken = choice.step.epilogue;
    if (choice.step.input == ElementType::f32) x = as_floats(node.inputs[0]);
    std::vector<size_t> inputs{x, slot_of(node.inputs[1])};
    if (taken.bias) inputs.push_back(slot_of(node.inputs[2]));

    const Shape y = choice.step.output_shape();
    size_t slot = taken == wanted ? slot_to_write(chain.output, choice.step.output_layout) : add_scratch(y);
    emit_conv(choice, chain.name_with(taken), inputs, slot);
    if (taken == wanted) return;

    // What the kernel refused becomes steps of their own.
    std::vector<std::pair<std::string, Op>> rest;
    if (wanted.bias && !taken.bias) rest.emplace_back(chain.conv_name + ".bias", AddOp{});
    if (wanted.pool) rest.emplace_back(chain.pool_name, PoolOp{*wanted.pool});
    if (wanted.activation.kind != ActivationKind::none) {
      rest.emplace_back(chain.activation_name, ActivationOp{wanted.activation});
    }
    Shape shape = y;
    for (size_t i = 0; i < rest.size(); ++i) {
      const auto& [name, op] = rest[i];
      std::vector<Operand> operands{{slot, shape}};
      if (std::holds_alternative<AddOp>(op)) operands.push_back({slot_of(node.inputs[2]), {y[1], 1, 1}, true});
      if (std::holds_alternative<PoolOp>(op)) shape = chain.step.output_shape();
      slot = i + 1 == rest.size() ? slot_to_write(chain.output) : add_scratch(shape);
      emit_op({.op = op}, operands, shape, slot, name);
    }
  }

  void plan_op(const Node& node) {
    OpStep step{.op = node.op};
    std::vector<Operand> operands;
    if (auto* pool = std::get_if<PoolOp>(&step.op)) *pool = {resolved_pool(*pool, shape_of(node.inputs[0]))};
    if (std::holds_alternative<ActivationOp>(step.op)) {
      const size_t x = slot_of(node.inputs[0]);
      if (is_pixels(x)) step.input = ElementType::u8;
      operands.push_back({x, shape_of(node.inputs[0])});
    } else if (std::holds_alternative<ScaleOp>(step.op)) {
      return plan_scaling(node);
    } else {
      for (ValueId input : node.inputs) operands.push_back(operand(input));
    }
    const Shape& shape = shape_of(node.output);
    step.input_layout = slots_[operands[0].slot].layout;
    const Node* next = only_reader(node.output);
    const bool fuses = options_.mode != PlanMode::layers && std::holds_alternative<GemmOp>(node.op) &&
                       next != nullptr && std::holds_alternative<ActivationOp>(next->op);
    if (fuses) {
      OpStep fused = completed(step, operands, shape);
      fused.activation = std::get<ActivationOp>(next->op).activation;
      if (find_op_kernel(fused, caps_.kind, options_.math) != nullptr) {
        mark_done(*next);
        step.activation = fused.activation;
        if (step.input_layout != Layout::plain) step.output_layout = op_output_layout(fused, next->output);
        emit_op(step, operands, shape, slot_to_write(next->output, step.output_layout), node.name + "+" + next->name);
        return;
      }
    }
    if (step.input_layout != Layout::plain) {
      step.output_layout = op_output_layout(completed(step, operands, shape), node.output);
    }
    emit_op(step, operands, shape, slot_to_write(node.output, step.output_layout), node.name);
  }

  void plan_scaling(const Node& node) {
    const size_t x = slot_of(node.inputs[0]);
    const Shape& y = shape_of(node.output);
    const size_t slot = add_scratch(y);
    slots_[slot].bytes = element_count(y);
    slots_[slot].pixels = true;
    slot_of_value_[node.output] = slot;
    emit_op({.op = node.op, .input = is_pixels(x) ? ElementType::u8 : ElementType::f32},
            {{x, shape_of(node.inputs[0])}}, y, slot, node.name);
  }

  /// The layout for a value that an operator computes: its readers', if a kernel writes that.
  Layout op_output_layout(OpStep step, ValueId value) const {
    step.output_layout = layout_for_readers(value);
    return find_op_kernel(step, caps_.kind, options_.math) != nullptr ? step.output_layout : Layout::plain;
  }

  OpStep completed(OpStep step, const std::vector<Operand>& operands, const Shape& output) const {
    if (step.input_layout != Layout::plain) step.written = slots_[operands[0].slot].written;
    for (const Operand& operand : operands) {
      step.inputs.push_back(operand.shape);
      step.constant.push_back(operand.constant);
    }
    step.output = output;
    return step;
  }

  void emit_op(const OpStep& step, const std::vector<Operand>& operands, const Shape& output, size_t slot,
               std::string name) {
    OpStep complete = completed(step, operands, output);
    std::vector<size_t> inputs;
    for (const Operand& operand : operands) inputs.push_back(operand.slot);
    const OpKernel& kernel = choose_op_kernel(complete, caps_.kind, options_.math);
    PlanStep result{.name = std::move(name), .op = &kernel};
    if (kernel.prepared_bytes != nullptr) result.prepared_bytes = kernel.prepared_bytes(complete);
    if (kernel.workspace_bytes != nullptr) result.workspace_bytes = kernel.workspace_bytes(complete);
    result.what = std::move(complete);
    emit(std::move(result), inputs, slot);
  }

  void emit_conv(const Choice& choice, std::string name, const std::vector<size_t>& inputs, size_t slot) {
    const ConvKernel& kernel = *choice.kernel;
    PlanStep result{.name = std::move(name), .what = choice.step, .conv = &kernel};
    result.refused = refused_besides(kernel, choice.step, caps_, options_);
    for (Refused& refused : result.refused) {
      const ConvKernel* other = find_conv_kernel(refused.kernel, caps_.kind);
      if (const Refusal refusal = why_not_for_layout(*other, choice.step.input_layout)) refused.reason = *refusal;
    }
    if (kernel.prepared_bytes != nullptr) result.prepared_bytes = kernel.prepared_bytes(choice.step);
    if (kernel.workspace_bytes != nullptr) result.workspace_bytes = kernel.workspace_bytes(choice.step, caps_);
    emit(std::move(result), inputs, slot);
  }

  void emit(PlanStep step, const std::vector<size_t>& inputs, size_t output) {
    const auto now = static_cast<int64_t>(plan_.steps.size());
    for (size_t input : inputs) slots_[input].last = now;
    slots_[output].first = slots_[output].last = now;
    plan_.steps.push_back(std::move(step));
    slots_of_step_.push_back({inputs, output});
  }

  /// Gives every array and workspace its place in the arena.
  void place() {
    std::vector<Lifetime> lifetimes;
    std::vector<int64_t*> places;
    for (Slot& slot : slots_) {
      if (slot.location.place != Location::Place::arena) continue;
      lifetimes.push_back({slot.bytes, slot.first, slot.last});
      places.push_back(&slot.location.at);
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      PlanStep& step = plan_.steps[i];
      if (step.workspace_bytes == 0) continue;
      const auto now = static_cast<int64_t>(i);
      lifetimes.push_back({static_cast<int64_t>(step.workspace_bytes), now, now});
      places.push_back(&step.workspace_at);
    }
    const Arena arena = pack_arena(lifetimes);
    for (size_t i = 0; i < places.size(); ++i) *places[i] = arena.at[i];
    plan_.arena_bytes = arena.bytes;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      for (size_t slot : slots_of_step_[i].inputs) plan_.steps[i].inputs.push_back(slots_[slot].location);
      plan_.steps[i].output = slots_[slots_of_step_[i].output].location;
    }
  }

  struct StepSlots {
    std::vector<size_t> inputs;
    size_t output;
  };

  const Graph& graph_;
  const DeviceCaps& caps_;
  const PlanOptions& options_;
  std::vector<Shape> shapes_;
  std::vector<std::vector<size_t>> readers_;  // by value: the nodes that read it, as often as they do
  std::vector<const ConvKernel*> candidates_;
  std::vector<bool> done_;
  ValueId output_root_ = -1;
  std::vector<Slot> slots_;
  std::map<ValueId, size_t> slot_of_value_;
  std::map<size_t, size_t> floats_of_;  // by slot of pixels: their copy
  std::vector<StepSlots> slots_of_step_;
  Plan plan_;
};

std::string to_text(const Location& location) {
  switch (location.place) {
    case Location::Place::input:
      return "input";
    case Location::Place::output:
      return "output";
    case Location::Place::constant:
      return fmt::format("constant {}", location.at);
    case Location::Place::arena:
      return fmt::format("arena {}", location.at);
  }
  return "?";
}

}  // namespace

std::string_view name_of(PlanMode mode) {
  switch (mode) {
    case PlanMode::layers:
      return "layers";
    case PlanMode::fused:
      return "fused";
    case PlanMode::folded:
      return "folded";
  }
  return "?";
}

std::string_view PlanStep::kernel_name() const { return conv != nullptr ? conv->info.name : op->name; }

std::string PlanStep::op_name() const {
  if (const ConvStep* step = conv_step()) {
    return step->epilogue.empty() ? "Conv" : "Conv+" + to_text(step->epilogue);
  }
  const OpStep& step = *op_step();
  const auto* activation = std::get_if<ActivationOp>(&step.op);
  if (activation != nullptr && activation->activation.kind == ActivationKind::none) {
    return step.input == ElementType::u8 ? "Convert" : "Copy";
  }
  const std::string name = name_of(step.op);
  return step.activation.kind == ActivationKind::none ? name : name + "+" + to_text(step.activation);
}

double PlanStep::flops() const {
  if (const ConvStep* step = conv_step()) return step->problem.flops();
  const OpStep& step = *op_step();
  const auto outputs = static_cast<double>(element_count(step.output));
  if (const auto* gemm = std::get_if<GemmOp>(&step.op)) {
    return 2 * outputs * static_cast<double>(step.inputs[0][gemm->transpose_a ? 0 : 1]);
  }
  if (std::holds_alternative<MatMulOp>(step.op)) return 2 * outputs * static_cast<double>(step.inputs[0].back());
  return 0;
}

Plan make_plan(const Graph& graph, const Shape& input_shape, const DeviceCaps& caps, const PlanOptions& options) {
  return Planner(graph, input_shape, caps, options).run();
}

std::string to_text(const Plan& plan) {
  std::string text =
      fmt::format("plan {} on {}: {} {} -> {}, arena {} bytes\n", name_of(plan.options.mode), name_of(plan.device),
                  name_of(plan.options.input), to_text(plan.input), to_text(plan.output), plan.arena_bytes);
  for (const PlanStep& step : plan.steps) {
    std::string inputs;
    for (const Location& input : step.inputs) inputs += (inputs.empty() ? "" : ", ") + to_text(input);
    const ConvStep* conv = step.conv_step();
    const Shape& shape = conv != nullptr ? conv->output_shape() : step.op_step()->output;
    const Layout layout = conv != nullptr ? conv->output_layout : step.op_step()->output_layout;
    text += fmt::format("  {}: {}{} by {}: {} -> {} {}{}", step.name, step.op_name(),
                        conv != nullptr ? " " + to_text(conv->problem) : "", step.kernel_name(), inputs,
                        to_text(step.output), to_text(shape),
                        layout == Layout::plain ? "" : fmt::format(", in {}", name_of(layout)));
    if (step.prepared_bytes != 0) text += fmt::format(", prepared {} bytes", step.prepared_bytes);
    if (step.workspace_bytes != 0) {
      text += fmt::format(", workspace arena {} of {} bytes", step.workspace_at, step.workspace_bytes);
    }
    text += '\n';
    for (const Refused& refused : step.refused) text += fmt::format("    not {}: {}\n", refused.kernel, refused.reason);
  }
  return text;
}

}  // namespace convlab
