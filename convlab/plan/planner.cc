// Makes the plan of a graph: the steps, their kernels, and the location of every array.

#include "convlab/plan/planner.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/kernels/select.h"
#include "convlab/model/shapes.h"
#include "convlab/plan/arrays.h"
#include "convlab/plan/bytes.h"
#include "convlab/plan/channels.h"
#include "convlab/plan/choose.h"
#include "convlab/plan/formats.h"
#include "convlab/plan/fused_conv.h"
#include "convlab/plan/request.h"
#include "convlab/plan/squeeze_excite.h"
#include "convlab/rewrite/readers.h"

namespace convlab {
namespace {

PlanRequest request_for(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options) {
  std::vector<Shape> shapes = infer_shapes(graph, inputs);
  PlanRequest request{graph, caps, options, std::move(shapes), candidates(caps, options), Readers(graph)};
  if (options.choices) request.chosen = &options.choices->of(inputs);
  const std::optional<bool> lanes = request.chosen != nullptr ? request.chosen->channel_lanes : options.channel_lanes;
  if (lanes ? *lanes : keeps_channels(request)) request.channels = channel_format(request);
  if (lanes && *lanes && !request.keeps_channels()) {
    throw bad_input("{}: a '{}' plan on {} in {} cannot keep values in nchw8c or nhwc", graph.name,
                    name_of(options.mode), name_of(caps.kind), name_of(options.math));
  }
  request.bytes = has_bytes(graph);
  if (!request.keeps_channels() && !request.bytes) {
    request.formats = inner_formats(request.images(), caps, options, request.candidates);
  }
  return request;
}

/// An array that a step is to read, under this shape.
struct Source {
  size_t array;
  Shape shape;
  bool constant = false;
};

/// Turns nodes into steps, in graph order.
class Planner {
 public:
  Planner(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options)
      : graph_(graph),
        request_(request_for(graph, inputs, caps, options)),
        arrays_(request_),
        done_(graph.nodes.size()) {
    if (request_.keeps_channels()) places_ = joint_places(request_);
    plan_ = {
        .options = options, .device = caps.kind, .inputs = inputs.copy(), .channel_lanes = request_.keeps_channels()};
    for (const GraphOutput& output : graph.outputs) plan_.outputs.push_back(shape_of(output.value));
  }

  Plan run() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (done_[i]) continue;
      const Node& node = graph_.nodes[i];
      if (is_alias(node.op)) {
        arrays_.share(node.output, node.inputs[0]);
      } else if (request_.bytes && plan_op_in_bytes(node)) {
        continue;
      } else if (std::holds_alternative<ConvOp>(node.op)) {
        if (!request_.keeps_channels() || !plan_joined_conv(i)) plan_conv(i);
      } else if (std::holds_alternative<ScaleOp>(node.op)) {
        plan_scaling(node);
      } else {
        if (request_.keeps_channels() && (plan_squeeze_excite(i) || plan_op_in_channels(node))) continue;
        plan_op(node);
      }
    }
    require_supported();
    require_all_chosen();
    for (size_t i = 0; i < graph_.outputs.size(); ++i) copy_output(i);
    arrays_.place(plan_);
    return std::move(plan_);
  }

 private:
  /// Throws Error(bad_input) if the plan does not use all choices: they are for another network.
  void require_all_chosen() const {
    if (request_.chosen == nullptr || request_.chosen->kernels.size() == convolutions_) return;
    throw bad_input("{}: the file has {} convolutions and the model has {}; tune again",
                    request_.options.choices->at(request_.chosen->line), request_.chosen->kernels.size(),
                    convolutions_);
  }

  /// Copies an output that no step has written: it is an input (raw or scaled), a constant, the array of another
  /// output, or an array in another layout under another shape.
  void copy_output(size_t number) {
    const Source output = operand(graph_.outputs[number].value);
    if (arrays_[output.array].location == Location{Location::Place::output, static_cast<int64_t>(number)}) return;
    emit_copy(output, arrays_.add_output(number), kNchw, "output");
  }

  const Shape& shape_of(ValueId value) const { return request_.shape_of(value); }
  bool is_pixels(size_t array) const { return arrays_[array].format == kRawPixels; }

  Source operand(ValueId value) { return {arrays_.of(value), shape_of(value), graph_.constants.contains(value)}; }

  /// Returns the operand, or its float32 nchw copy if it is uint8 pixels, or if the plan keeps channels or bytes and
  /// the operand is in another layout.
  Source float_operand(ValueId value) {
    const Source given = operand(value);
    const bool plain = lies_plain(given) || (!request_.keeps_channels() && !request_.bytes);
    return plain && !is_pixels(given.array) ? given : copy_of(value, given, kNchw);
  }

  /// Returns a float32 copy in this layout, which is made once.
  Source copy_of(ValueId value, const Source& given, Format format) {
    const Shape shape = shape_to_copy(given);
    const auto [found, is_new] = copies_.try_emplace({given.array, format.order, format.type, shape}, 0);
    if (is_new) {
      found->second = arrays_.add_scratch(shape, format);
      emit_copy(given, found->second, format, graph_.value_names[static_cast<size_t>(root_of(graph_, value))]);
    }
    return {found->second, given.shape};
  }

  /// Returns the shape for a copy of the array. In layouts other than nchw, copies support only the shape with which
  /// the array was written.
  Shape shape_to_copy(const Source& given) const {
    return lies_plain(given) ? given.shape : arrays_[given.array].written;
  }

  void emit_copy(const Source& given, size_t to, Format format, std::string name) {
    const Shape shape = shape_to_copy(given);
    Step step = step_of(ActivationOp{}, {{given.array, shape}}, shape);
    step.outputs[0].format = format;
    emit_op(step, {given}, to, std::move(name));
  }

  bool lies_plain(const Source& operand) const { return arrays_[operand.array].format.order == Order::nchw; }

  /// Whether the operand can be read in the plan's layout of channels. In nchw8c, this includes nchw images of one
  /// pixel.
  bool lies_in_channels(const Source& operand) const {
    const PlanArray& array = arrays_[operand.array];
    if (array.format == request_.channels && array.written == operand.shape) return true;
    return array.format == kNchw && one_pixel(operand.shape) && request_.channels == kNchw8c;
  }

  /// Returns the operand in the plan's layout of channels, or in nchw if the plan does not use that layout for its
  /// shape.
  Source channels_operand(ValueId value) {
    const Source given = operand(value);
    if (!keeps(request_, given.shape)) return float_operand(value);
    return lies_in_channels(given) ? given : copy_of(value, float_operand(value), request_.channels);
  }

  /// Returns an array in the layout of channels for a value that the next step writes. It is part of a joint array if
  /// the value is concatenated.
  size_t channels_array(ValueId value) {
    const auto place = places_.find(value);
    if (place == places_.end()) return arrays_.add(value, channels_of(shape_of(value)));
    const size_t part = part_of(place->second, shape_of(value));
    arrays_.put(value, part);
    return part;
  }

  /// Returns the layout in which the plan keeps values of this shape.
  Format channels_of(const Shape& shape) const { return keeps(request_, shape) ? request_.channels : kNchw; }

  size_t part_of(const JointPlace& place, const Shape& shape) {
    return arrays_.add_part(shape, joint_array(place.joint), shape_of(place.joint)[1], place.channel);
  }

  /// Returns the array for the output of a Concat.
  size_t joint_array(ValueId joint) {
    const auto [found, is_new] = joints_.try_emplace(joint, 0);
    if (is_new) found->second = arrays_.add(joint, request_.channels);
    return found->second;
  }

  /// Returns the operand in nhwc4 uint8.
  Source bytes_operand(ValueId value) {
    const Source given = operand(value);
    return lies_in_bytes(given) ? given : copy_of(value, float_operand(value), kNhwc4U8);
  }

  bool lies_in_bytes(const Source& operand) const {
    const PlanArray& array = arrays_[operand.array];
    return array.format == kNhwc4U8 && same_in_bytes(array.written, operand.shape);
  }

  /// Plans an operator that reads or writes nhwc4 uint8. Returns false if it does neither, or if no kernel
  /// supports it.
  bool plan_op_in_bytes(const Node& node) {
    const bool only = is_of_bytes(node.op), begins = std::holds_alternative<QuantizeOp>(node.op);
    const bool ends = std::holds_alternative<DequantizeOp>(node.op);
    if (begins && !is_read_as_bytes(request_, node.output)) return false;
    if (!only && !begins && !lies_in_bytes(operand(node.inputs[0]))) return false;
    Step step{.op = node.op, .outputs = {{.shape = shape_of(node.output), .format = ends ? kNchw : kNhwc4U8}}};
    if (auto* pool = std::get_if<PoolOp>(&step.op)) *pool = {resolved_pool(*pool, shape_of(node.inputs[0]))};
    for (const ValueId input : node.inputs) {
      const bool constant = graph_.constants.contains(input);
      step.inputs.push_back(
          {.shape = shape_of(input), .format = begins || constant ? kNchw : kNhwc4U8, .constant = constant});
    }
    if (!begins) step.inputs[0].written = step.inputs[0].shape;
    if (!only && find_kernel(step, request_.caps, request_.options.math) == nullptr) return false;
    std::vector<Source> operands;
    for (const ValueId input : node.inputs) {
      const bool plain = begins || graph_.constants.contains(input);
      operands.push_back(plain ? float_operand(input) : bytes_operand(input));
    }
    emit_op(step, operands, arrays_.add(node.output, step.outputs[0].format), node.name);
    return true;
  }

  /// Plans a convolution fused with all nodes that can join it. Returns false if no kernel computes it with the plan's
  /// layout of channels.
  bool plan_joined_conv(size_t place) {
    const auto ready = [this](ValueId value) { return arrays_.has(value) && keeps(request_, shape_of(value)); };
    FusedConv fused = joined_conv_from(request_, place, ready);
    const std::vector<ValueId>& values = graph_.nodes[place].inputs;
    const Source given = operand(values[0]);
    std::optional<ConvChoice> choice;
    if (const std::optional<FusedConv> pooled = pooled_conv(request_, fused)) {
      choice = choose_joined(*pooled, given);
      if (choice) fused = *pooled;
    }
    if (!choice) choice = choose_joined(fused, given);
    if (!choice) return false;

    for (const size_t node : fused.nodes) done_[node] = true;
    ConvStep& step = choice->step;
    const bool plain = step.input_format.order == Order::nchw;
    const Source x = step.input_format == kRawPixels ? given
                     : plain                         ? float_operand(values[0])
                                                     : channels_operand(values[0]);
    std::vector<size_t> inputs{x.array, arrays_.of(values[1])};
    step.input_step = plain ? 0 : arrays_[inputs[0]].step;
    if (step.epilogue.bias) inputs.push_back(arrays_.of(values[2]));
    if (step.adds) {
      inputs.push_back(channels_operand(fused.added).array);
      step.added_step = arrays_[inputs.back()].step;
    }
    const size_t output = channels_array(fused.output);
    step.output_step = arrays_[output].step;
    emit_conv(*choice, std::move(inputs), output, fused.name_with(step.epilogue));
    return true;
  }

  /// Returns the step and the kernels that compute the convolution from this input: from uint8 pixels, nchw, or the
  /// plan's layout of channels.
  std::optional<ConvChoice> choose_joined(const FusedConv& fused, const Source& given) {
    const std::vector<const Kernel*> kernels = kernels_for(request_, fused, convolutions_);
    std::optional<ConvChoice> choice;
    for (const Format input : {kRawPixels, kNchw}) {
      if (choice || !lies_plain(given) || (input == kRawPixels && !is_pixels(given.array))) continue;
      choice = choose_to_channels(request_, kernels, fused, input);
    }
    if (choice || !keeps(request_, fused.step.problem.input_shape())) return choice;
    return choose_to_channels(request_, kernels, fused, request_.channels);
  }

  /// Plans squeeze-and-excitation that begins with the mean at node index `place`. Returns false if no kernel computes
  /// all of it in one step.
  bool plan_squeeze_excite(size_t place) {
    std::optional<SqueezeExcite> gate = squeeze_excite_from(request_, place);
    if (!gate || !lies_in_channels(operand(gate->inputs[0]))) return false;
    std::vector<Source> operands;
    for (const ValueId input : gate->inputs) operands.push_back(operand(input));
    Step step = step_of(gate->op, operands, shape_of(gate->output));
    step.outputs[0].format = request_.channels;
    if (find_kernel(step, request_.caps, request_.options.math) == nullptr) return false;

    for (const size_t node : gate->nodes) done_[node] = true;
    const size_t output = channels_array(gate->output);
    step.outputs[0].pitch = arrays_[output].step;
    emit_op(step, operands, output, std::move(gate->name));
    return true;
  }

  /// Plans an operator with an input in the plan's layout of channels. Returns false if no kernel computes it there.
  bool plan_op_in_channels(const Node& node) {
    if (places_.contains(node.output) && std::holds_alternative<ConcatOp>(node.op)) {
      plan_joining(node);
      return true;
    }
    bool any = false;
    Step step{.op = node.op, .outputs = {{.shape = shape_of(node.output)}}};
    Operand& y = step.outputs[0];
    if (auto* pool = std::get_if<PoolOp>(&step.op)) *pool = {resolved_pool(*pool, shape_of(node.inputs[0]))};
    for (const ValueId input : node.inputs) {
      const Source given = operand(input);
      if (!given.constant && !fits_channels(given.shape)) return false;
      any = any || (!given.constant && !lies_plain(given) && lies_in_channels(given));
      step.inputs.push_back({.shape = given.shape, .constant = given.constant});
    }
    if (!any || !fits_channels(y.shape)) return false;
    step.inputs[0].format = request_.channels;
    step.inputs[0].written = step.inputs[0].shape;
    y.format = channels_of(y.shape);
    if (find_kernel(step, request_.caps, request_.options.math) == nullptr) return false;
    std::string name = node.name;
    const ValueId result = fuse_activation(node, step, name);

    std::vector<Source> operands;
    for (const ValueId input : node.inputs) {
      operands.push_back(graph_.constants.contains(input) ? operand(input) : channels_operand(input));
      step.inputs[operands.size() - 1].pitch = arrays_[operands.back().array].step;
    }
    // An array with one pixel per image counts as plain, although the kernel writes the plan's layout.
    if (in_order(step, result)) y.format = kNchw;
    const size_t output = y.format.order == Order::nchw ? arrays_.add(result) : channels_array(result);
    y.pitch = arrays_[output].step;
    emit_op(step, operands, output, std::move(name));
    return true;
  }

  /// Whether a kernel can write the value in nchw order, and its only use is under another shape.
  bool in_order(Step step, ValueId value) const {
    while (shape_of(value) == step.outputs[0].shape) {
      const std::optional<size_t> reader = request_.readers.only(value);
      if (!reader || !is_alias(graph_.nodes[*reader].op)) return false;
      value = graph_.nodes[*reader].output;
    }
    step.outputs[0].format = kNchw;
    return find_kernel(step, request_.caps, request_.options.math) != nullptr;
  }

  /// Plans a Concat. Most inputs were written directly to their part of the output; the others are copied there now.
  void plan_joining(const Node& node) {
    JointPlace place = places_.at(node.output);
    if (place.joint != node.output) arrays_.put(node.output, part_of(place, shape_of(node.output)));
    for (const ValueId input : node.inputs) {
      const Source given = operand(input);
      const size_t part = part_of(place, given.shape);
      place.channel += given.shape[1];
      const PlanArray &array = arrays_[given.array], &wanted = arrays_[part];
      if (array.joint == wanted.joint && array.at == wanted.at) continue;
      const Source from = !is_pixels(given.array) && lies_in_channels(given) ? given : float_operand(input);
      Step step = step_of(ActivationOp{}, {from}, given.shape);
      step.outputs[0].format = request_.channels;
      step.outputs[0].pitch = wanted.step;
      emit_op(step, {from}, part, node.name);
    }
  }

  void plan_conv(size_t place) {
    const FusedConv fused = fused_conv_from(request_, place);
    for (const size_t node : fused.nodes) done_[node] = true;
    const std::vector<ValueId>& values = graph_.nodes[place].inputs;
    size_t x = request_.keeps_channels() || request_.bytes ? float_operand(values[0]).array : arrays_.of(values[0]);
    const ConvChoice choice = choose(request_, fused, convolutions_, arrays_[x].format);
    const Epilogue &wanted = fused.step.epilogue, &taken = choice.step.epilogue;
    if (choice.step.input_format != kRawPixels) x = float_operand(values[0]).array;
    std::vector<size_t> inputs{x, arrays_.of(values[1])};
    if (taken.bias) inputs.push_back(arrays_.of(values[2]));

    const bool complete = taken == wanted;
    const Shape y = choice.step.output_shape();
    const size_t array = complete ? arrays_.add(fused.output, choice.step.output_format) : arrays_.add_scratch(y);
    emit_conv(choice, std::move(inputs), array, fused.name_with(taken));
    if (!complete) plan_remaining_epilogue(fused, taken, {array, y});
  }

  /// Plans separate steps for the part of the epilogue that the convolution's kernel does not support. The kernel
  /// writes `x`, which includes the epilogue `taken`.
  void plan_remaining_epilogue(const FusedConv& fused, const Epilogue& taken, Source x) {
    const Epilogue& wanted = fused.step.epilogue;
    std::vector<std::pair<std::string, Op>> rest;
    if (wanted.bias && !taken.bias) rest.emplace_back(fused.conv_name + ".bias", AddOp{});
    if (wanted.pool) rest.emplace_back(fused.pool_name, PoolOp{*wanted.pool});
    if (wanted.activation.kind != ActivationKind::none) {
      rest.emplace_back(fused.activation_name, ActivationOp{wanted.activation});
    }
    for (size_t i = 0; i < rest.size(); ++i) {
      const auto& [name, op] = rest[i];
      std::vector<Source> operands{x};
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
    std::vector<Source> operands;
    for (const ValueId input : node.inputs) {
      const Source given = operand(input);
      operands.push_back(takes_pixels && is_pixels(given.array) ? given : float_operand(input));
    }
    Step step = step_of(op, operands, shape_of(node.output));
    std::string name = node.name;
    const ValueId output = fuse_activation(node, step, name);
    Operand& y = step.outputs[0];
    if (step.inputs[0].format.order != Order::nchw) y.format = op_output_format(request_, step, output);
    emit_op(step, operands, arrays_.add(output, y.format), std::move(name));
  }

  void plan_scaling(const Node& node) {
    const Source x = operand(node.inputs[0]);
    Step step = step_of(node.op, {x}, shape_of(node.output));
    step.outputs[0].format = kRawPixels;
    emit_op(std::move(step), {x}, arrays_.add_pixels(node.output), node.name);
  }

  /// Fuses the activation after the node into the step if a kernel supports that. Returns the value that the step then
  /// computes.
  ValueId fuse_activation(const Node& node, Step& step, std::string& name) {
    const std::optional<size_t> place = activation_with(node, step);
    if (!place) return node.output;
    const Node& activation = graph_.nodes[*place];
    step.epilogue.activation = std::get<ActivationOp>(activation.op).activation;
    name += "+" + activation.name;
    done_[*place] = true;
    return activation.output;
  }

  /// Returns the index of the activation after a dense layer, or after a batch normalization in the plan's layout of
  /// channels, if a kernel computes both in one step.
  std::optional<size_t> activation_with(const Node& node, Step step) const {
    const bool scales = request_.keeps_channels() && step.outputs[0].format == request_.channels &&
                        std::holds_alternative<BatchNormOp>(node.op);
    if (request_.options.mode == PlanMode::layers) return std::nullopt;
    if (!scales && !std::holds_alternative<GemmOp>(node.op)) return std::nullopt;
    const std::optional<size_t> next = request_.readers.only(node.output);
    const auto* op = next ? std::get_if<ActivationOp>(&graph_.nodes[*next].op) : nullptr;
    if (op == nullptr) return std::nullopt;
    step.epilogue.activation = op->activation;
    return find_kernel(step, request_.caps, request_.options.math) != nullptr ? next : std::nullopt;
  }

  /// Returns the step of an operator, with nchw output.
  Step step_of(const Op& op, const std::vector<Source>& operands, const Shape& output) const {
    Step step{.op = op, .outputs = {{.shape = output}}};
    for (const Source& each : operands) step.inputs.push_back({.shape = each.shape, .constant = each.constant});
    const PlanArray& x = arrays_[operands[0].array];
    step.inputs[0].format = x.format;
    step.inputs[0].pitch = x.step;
    if (x.format.order != Order::nchw) step.inputs[0].written = x.written;
    return step;
  }

  void note_unsupported(const Step& step, const std::string& name) {
    const std::string op = name_of(step.op);
    if (unsupported_.empty()) {
      const std::string why = why_unsupported(step, request_.caps, request_.options.math);
      first_unsupported_ = fmt::format("{} (node '{}'){}{}", op, printable(name), why.empty() ? "" : ": ", why);
    }
    unsupported_.push_back(op);
  }

  /// Throws, for example, "not supported on cuda: LayerNorm (node '/blocks.0/norm'); 12 more nodes (Erf, LayerNorm);
  /// help: use --device cpu".
  void require_supported() const {
    if (unsupported_.empty()) return;
    const DeviceKind device = request_.caps.kind;
    Finding finding{.kind = "unsupported node",
                    .text = fmt::format("not supported on {}: {}", name_of(device), first_unsupported_),
                    .help = device == DeviceKind::cpu ? "" : "use device cpu"};
    if (unsupported_.size() > 1) {
      const std::set<std::string> kinds(unsupported_.begin() + 1, unsupported_.end());
      finding.notes.push_back(fmt::format("{} more node{} ({})", unsupported_.size() - 1,
                                          unsupported_.size() > 2 ? "s" : "", fmt::join(kinds, ", ")));
    }
    throw in_file(graph_.name, FindingError(ErrorKind::unavailable, finding));
  }

  void emit_op(Step step, const std::vector<Source>& operands, size_t output, std::string name) {
    std::vector<size_t> inputs;
    for (size_t i = 0; i < operands.size(); ++i) {
      inputs.push_back(operands[i].array);
      if (i > 0) step.inputs[i].format = arrays_[operands[i].array].format;
    }
    const Kernel* const found = find_kernel(step, request_.caps, request_.options.math);
    if (found == nullptr) {
      note_unsupported(step, name);
      arrays_.note_step(std::move(inputs), output);
      return;
    }
    emit({.name = std::move(name), .what = std::move(step), .kernel = found}, std::move(inputs), output);
  }

  void emit_conv(const ConvChoice& choice, std::vector<size_t> inputs, size_t output, std::string name) {
    require_chosen_step(request_, name, convolutions_++);
    emit({.name = std::move(name),
          .what = choice.step,
          .kernel = choice.kernel,
          .fitting = choice.fitting,
          .refused = refused_besides(request_, choice)},
         std::move(inputs), output);
  }

  void emit(PlanStep step, std::vector<size_t> inputs, size_t output) {
    step.prepared_bytes = prepared_bytes(*step.kernel, step.what, request_.caps);
    step.workspace_bytes = workspace_bytes(*step.kernel, step.what, request_.caps);
    arrays_.note_step(std::move(inputs), output);
    plan_.steps.push_back(std::move(step));
  }

  const Graph& graph_;
  const PlanRequest request_;
  PlanArrays arrays_;
  std::vector<std::string> unsupported_;  // operators of nodes that no kernel computes
  std::string first_unsupported_;         // the first of them, with its node and reason
  size_t convolutions_ = 0;               // planned so far
  std::vector<bool> done_;                // by node: computed by the step of an earlier node
  std::map<std::tuple<size_t, Order, ElementType, Shape>, size_t> copies_;  // by array, format, shape: see copy_of()
  std::map<ValueId, JointPlace> places_;
  std::map<ValueId, size_t> joints_;  // by output of a Concat
  Plan plan_;
};

}  // namespace

Plan make_plan(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options) {
  return Planner(graph, inputs, caps, options).run();
}

}  // namespace convlab
