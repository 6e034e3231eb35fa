// The pass that assigns formats: which fusions are used, the format of each value, and the steps that convert values.

#include "convlab/plan/assign_formats.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/diagnostics/finding.h"
#include "convlab/plan/candidates.h"
#include "convlab/plan/conv_draft.h"
#include "convlab/plan/joint_places.h"
#include "convlab/plan/kept_formats.h"
#include "convlab/plan/reader_formats.h"

namespace convlab {
namespace {

/// An array that a step is to read, under this shape.
struct Source {
  size_t array;
  Shape shape;
  bool constant = false;
};

class Assigner {
 public:
  explicit Assigner(const PlanRequest& request)
      : request_(request), arrays_(request, draft_.arrays), done_(request.graph.nodes.size()) {
    if (request.keeps_channels()) places_ = joint_places(request);
  }

  Draft run(const std::vector<std::vector<Fusion>>& fusions) {
    for (size_t i = 0; i < done_.size(); ++i) {
      if (done_[i]) continue;
      const Node& node = request_.graph.nodes[i];
      if (is_alias(node.op)) {
        arrays_.share(node.output, node.inputs[0]);
        continue;
      }
      const auto used = std::ranges::find_if(fusions[i], [this](const Fusion& fusion) { return assign(fusion); });
      for (const size_t each : used->nodes) done_[each] = true;
    }
    for (size_t i = 0; i < request_.graph.outputs.size(); ++i) copy_output(i);
    return std::move(draft_);
  }

 private:
  /// Adds the steps of a fusion. Returns false, and adds nothing, if no kernel computes it in its formats.
  bool assign(const Fusion& fusion) {
    const bool conv = is_conv(fusion.step), scales = std::holds_alternative<ScaleOp>(fusion.step.op);
    switch (fusion.kept) {
      case Kept::bytes:
        return in_bytes(fusion);
      case Kept::channels:
        return conv ? conv_in_channels(fusion) : !scales && in_channels(fusion);
      case Kept::any:
        return conv ? conv_in_any(fusion) : in_any(fusion);
    }
    return false;
  }

  // Arrays and their formats.

  const Shape& shape_of(ValueId value) const { return request_.shape_of(value); }
  bool is_pixels(const Source& source) const { return arrays_[source.array].format == kRawPixels; }
  bool lies_plain(const Source& source) const { return arrays_[source.array].format.order == Order::nchw; }

  Source operand(ValueId value) {
    return {arrays_.of(value), shape_of(value), request_.graph.constants.contains(value)};
  }

  /// Returns the operand, or its float32 nchw copy if it is uint8 pixels or in another order.
  Source plain_operand(ValueId value) {
    const Source given = operand(value);
    return lies_plain(given) && !is_pixels(given) ? given : copy_of(value, given, kNchw);
  }

  /// Returns the operand as the steps of Kept::any read it: in nchw or, in a plan that keeps neither channels nor
  /// bytes, in the format that was chosen for its readers.
  Source any_operand(ValueId value) {
    const Source given = operand(value);
    const bool chosen = !lies_plain(given) && !request_.keeps_channels() && !request_.bytes;
    return chosen ? given : plain_operand(value);
  }

  /// Returns a copy in this format, which is made once.
  Source copy_of(ValueId value, const Source& given, Format format) {
    const Shape shape = shape_to_copy(given);
    const auto [found, is_new] = copies_.try_emplace({given.array, format.order, format.type, shape}, 0);
    if (is_new) {
      found->second = arrays_.add_scratch(shape, format);
      const ValueId root = root_of(request_.graph, value);
      add_copy(given, found->second, format, request_.graph.value_names[static_cast<size_t>(root)]);
    }
    return {found->second, given.shape};
  }

  /// Returns the shape for a copy of the array. In orders other than nchw, copies support only the shape with which
  /// the array was written.
  Shape shape_to_copy(const Source& given) const {
    return lies_plain(given) ? given.shape : arrays_[given.array].written;
  }

  void add_copy(const Source& given, size_t to, Format format, std::string name) {
    const Shape shape = shape_to_copy(given);
    Step step{.op = ActivationOp{}, .inputs = {{.shape = shape}}, .outputs = {{.shape = shape, .format = format}}};
    set_formats(step, {given});
    step.outputs[0].pitch = arrays_[to].pitch;
    add_step(std::move(step), {given}, to, std::move(name));
  }

  /// Copies an output that no step has written: it is an input (raw or scaled), a constant, the array of another
  /// output, or an array in another format or under another shape.
  void copy_output(size_t number) {
    const Source output = operand(request_.graph.outputs[number].value);
    const DraftArray& array = arrays_[output.array];
    if (array.place == Location::Place::output && array.number == static_cast<int64_t>(number)) return;
    add_copy(output, arrays_.add_output(number), kNchw, "output");
  }

  /// Sets the formats of a step's inputs to those of the arrays.
  void set_formats(Step& step, const std::vector<Source>& sources) const {
    for (size_t i = 0; i < sources.size(); ++i) step.inputs[i].format = arrays_[sources[i].array].format;
    const DraftArray& x = arrays_[sources[0].array];
    step.inputs[0].pitch = x.pitch;
    if (x.format.order != Order::nchw) step.inputs[0].written = x.written;
  }

  void add_step(Step step, const std::vector<Source>& sources, size_t output, std::string name) {
    std::vector<size_t> inputs;
    for (const Source& each : sources) inputs.push_back(each.array);
    std::vector<const Kernel*> kernels = supporting(request_, step);
    draft_.steps.push_back({std::move(name), std::move(step), std::move(inputs), output, std::move(kernels)});
  }

  void add_conv(const ConvDraft& conv, std::vector<size_t> inputs, size_t output, std::string name) {
    ++convolutions_;
    draft_.steps.push_back({std::move(name), conv.step, std::move(inputs), output, conv.kernels});
  }

  std::vector<const Kernel*> conv_kernels(const Fusion& fusion) const {
    return conv_kernels_for(request_, conv_step(fusion.step).problem, fusion.name, convolutions_);
  }

  // Plans that keep bytes.

  bool lies_in_bytes(const Source& source) const {
    const DraftArray& array = arrays_[source.array];
    return array.format == kNhwc4U8 && same_in_bytes(array.written, source.shape);
  }

  /// Assigns nhwc4 uint8 to an operator that reads or writes it.
  bool in_bytes(const Fusion& fusion) {
    const Op& op = fusion.step.op;
    const bool only = is_of_bytes(op), begins = std::holds_alternative<QuantizeOp>(op);
    const bool ends = std::holds_alternative<DequantizeOp>(op);
    if (begins && !is_read_as_bytes(request_, fusion.output)) return false;
    if (!only && !begins && !lies_in_bytes(operand(fusion.inputs[0]))) return false;
    Step step = fusion.step;
    step.outputs[0].format = ends ? kNchw : kNhwc4U8;
    for (Operand& input : step.inputs) {
      if (!begins && !input.constant) input.format = kNhwc4U8;
    }
    if (!begins) step.inputs[0].written = step.inputs[0].shape;
    if (!only && !is_supported(request_, step)) return false;
    std::vector<Source> sources;
    for (const ValueId input : fusion.inputs) {
      const Source given = operand(input);
      const bool plain = begins || given.constant;
      sources.push_back(plain                  ? plain_operand(input)
                        : lies_in_bytes(given) ? given
                                               : copy_of(input, plain_operand(input), kNhwc4U8));
    }
    const size_t output = arrays_.add(fusion.output, step.outputs[0].format);
    add_step(std::move(step), sources, output, fusion.name);
    return true;
  }

  // Plans that keep channels.

  /// Whether the source can be read in the plan's format of channels. In nchw8c, this includes nchw images of one
  /// pixel.
  bool lies_in_channels(const Source& source) const {
    const DraftArray& array = arrays_[source.array];
    if (array.format == request_.channels && array.written == source.shape) return true;
    return array.format == kNchw && one_pixel(source.shape) && request_.channels == kNchw8c;
  }

  /// Returns the operand in the plan's format of channels, or in nchw if the plan does not use that format for its
  /// shape.
  Source channels_operand(ValueId value) {
    const Source given = operand(value);
    if (!keeps(request_, given.shape)) return plain_operand(value);
    return lies_in_channels(given) ? given : copy_of(value, plain_operand(value), request_.channels);
  }

  /// Returns what channels_operand() will have: no copy is made yet.
  Operand as_in_channels(const Source& given) const {
    Operand operand{.shape = given.shape, .constant = given.constant};
    if (given.constant || !keeps(request_, given.shape)) return operand;
    const DraftArray& array = arrays_[given.array];
    const bool plain = one_pixel(given.shape) && request_.channels == kNchw8c;
    operand.format = lies_in_channels(given) ? array.format : plain ? kNchw : request_.channels;
    operand.pitch = lies_in_channels(given) ? array.pitch : 0;
    return operand;
  }

  /// Returns the pitch of the array that channels_array() will return.
  int64_t pitch_of(ValueId value) const {
    const auto place = places_.find(value);
    if (place == places_.end()) return 0;
    const Shape& joint = shape_of(place->second.joint);
    return request_.channels == kNchw8c ? joint[1] * joint[2] * joint[3] : joint[1];
  }

  /// Returns an array in the format of channels for a value that the next step writes. It is part of a joint array if
  /// the value is concatenated.
  size_t channels_array(ValueId value) {
    const auto place = places_.find(value);
    if (place == places_.end()) return arrays_.add(value, keeps(request_, shape_of(value)) ? request_.channels : kNchw);
    const size_t part = part_of(place->second, shape_of(value));
    arrays_.put(value, part);
    return part;
  }

  size_t part_of(const JointPlace& place, const Shape& shape) {
    const auto [joint, is_new] = joints_.try_emplace(place.joint, 0);
    if (is_new) joint->second = arrays_.add(place.joint, request_.channels);
    return arrays_.add_part(shape, joint->second, place.channel, pitch_of(place.joint));
  }

  /// Assigns channels to an operator if one of its inputs has them.
  bool in_channels(const Fusion& fusion) {
    if (joins_channels(request_, request_.graph.nodes[fusion.nodes[0]])) {
      join(fusion);
      return true;
    }
    bool any = false;
    Step step = fusion.step;
    for (size_t i = 0; i < fusion.inputs.size(); ++i) {
      const Source given = operand(fusion.inputs[i]);
      if (!given.constant && !fits_channels(given.shape)) return false;
      any = any || (!given.constant && !lies_plain(given) && lies_in_channels(given));
      step.inputs[i] = as_in_channels(given);
    }
    Operand& y = step.outputs[0];
    if (!any || !fits_channels(y.shape)) return false;
    step.inputs[0].format = request_.channels;
    step.inputs[0].written = step.inputs[0].shape;
    if (keeps(request_, y.shape)) y.format = request_.channels;
    y.pitch = pitch_of(fusion.output);
    if (!is_supported(request_, step)) return false;
    // An array with one pixel per image counts as plain, although the kernel writes the plan's format.
    if (in_order(step, fusion.output)) y = {.shape = y.shape};
    std::vector<Source> sources;
    for (const ValueId input : fusion.inputs) {
      sources.push_back(request_.graph.constants.contains(input) ? operand(input) : channels_operand(input));
    }
    const bool plain = y.format.order == Order::nchw;
    const size_t output = plain ? arrays_.add(fusion.output) : channels_array(fusion.output);
    add_step(std::move(step), sources, output, fusion.name_with(fusion.step.epilogue));
    return true;
  }

  /// Whether a kernel can write the value in nchw order, and its only use is under another shape.
  bool in_order(Step step, ValueId value) const {
    while (shape_of(value) == step.outputs[0].shape) {
      const std::optional<size_t> reader = request_.readers.only(value);
      if (!reader || !is_alias(request_.graph.nodes[*reader].op)) return false;
      value = request_.graph.nodes[*reader].output;
    }
    step.outputs[0] = {.shape = step.outputs[0].shape};
    return is_supported(request_, step);
  }

  /// Assigns arrays to a Concat. Most inputs were written directly to their part of the output; the others are copied
  /// there now.
  void join(const Fusion& fusion) {
    JointPlace place = places_.at(fusion.output);
    if (place.joint != fusion.output) arrays_.put(fusion.output, part_of(place, shape_of(fusion.output)));
    for (const ValueId input : fusion.inputs) {
      const Source given = operand(input);
      const size_t part = part_of(place, given.shape);
      place.channel += given.shape[1];
      const DraftArray &array = arrays_[given.array], &wanted = arrays_[part];
      if (array.joint == wanted.joint && array.at == wanted.at) continue;
      const Source from = !is_pixels(given) && lies_in_channels(given) ? given : plain_operand(input);
      add_copy(from, part, request_.channels, fusion.name);
    }
  }

  /// Assigns channels to the output of a convolution, and pixels, nchw or channels to its input.
  bool conv_in_channels(const Fusion& fusion) {
    ConvStep step = conv_step(fusion.step);
    if (step.adds && !arrays_.has(fusion.inputs.back())) return false;
    const Source given = operand(fusion.inputs[0]);
    const std::vector<const Kernel*> kernels = conv_kernels(fusion);
    if (step.adds) step.added_step = as_in_channels(operand(fusion.inputs.back())).pitch;
    step.output_step = pitch_of(fusion.output);
    ConvDraft conv;
    for (const Format input : {kRawPixels, kNchw, request_.channels}) {
      const bool channels = input == request_.channels;
      if (!conv.kernels.empty() || (channels ? !keeps(request_, given.shape) : !lies_plain(given))) continue;
      if (input == kRawPixels && !is_pixels(given)) continue;
      step.input_format = input;
      step.input_step = channels ? as_in_channels(given).pitch : 0;
      conv = conv_to_channels(request_, kernels, step);
    }
    if (conv.kernels.empty()) return false;
    const Format input = conv.step.input_format;
    const Source x = input == kRawPixels          ? given
                     : input.order == Order::nchw ? plain_operand(fusion.inputs[0])
                                                  : channels_operand(fusion.inputs[0]);
    std::vector<size_t> inputs{x.array, arrays_.of(fusion.inputs[1])};
    if (step.epilogue.bias) inputs.push_back(arrays_.of(fusion.inputs[2]));
    if (step.adds) inputs.push_back(channels_operand(fusion.inputs.back()).array);
    add_conv(conv, std::move(inputs), channels_array(fusion.output), fusion.name_with(step.epilogue));
    return true;
  }

  // All plans.

  bool conv_in_any(const Fusion& fusion) {
    const ValueId value = fusion.inputs[0];
    const bool kept = request_.keeps_channels() || request_.bytes;
    Source x = kept ? plain_operand(value) : operand(value);
    const std::vector<const Kernel*> kernels = conv_kernels(fusion);
    std::string refusals;
    ConvDraft conv = conv_for_readers(request_, kernels, fusion, arrays_[x.array].format, refusals);
    if (conv.kernels.empty() && !lies_plain(x)) conv = conv_for_readers(request_, kernels, fusion, kNchw, refusals);
    if (conv.kernels.empty()) fail_without_kernel(fusion, refusals);
    if (conv.step.input_format == kNchw) x = plain_operand(value);
    std::vector<size_t> inputs{x.array, arrays_.of(fusion.inputs[1])};
    const Epilogue taken = conv.step.epilogue;
    if (taken.bias) inputs.push_back(arrays_.of(fusion.inputs[2]));

    const bool complete = taken == fusion.step.epilogue;
    const Shape y = conv.step.output_shape();
    const size_t output = complete ? arrays_.add(fusion.output, conv.step.output_format) : arrays_.add_scratch(y);
    add_conv(conv, std::move(inputs), output, fusion.name_with(taken));
    if (!complete) add_rest(fusion, taken, {output, y});
    return true;
  }

  /// Adds steps for the part of a convolution's epilogue that its kernel does not fuse. The kernel writes `x`, which
  /// includes the epilogue `taken`.
  void add_rest(const Fusion& fusion, const Epilogue& taken, Source x) {
    const Epilogue& wanted = fusion.step.epilogue;
    std::vector<std::pair<std::string, Op>> rest;
    if (wanted.bias && !taken.bias) rest.emplace_back(fusion.name + ".bias", AddOp{});
    if (wanted.pool) rest.emplace_back(fusion.pool_name, PoolOp{*wanted.pool});
    if (wanted.activation.kind != ActivationKind::none) {
      rest.emplace_back(fusion.activation_name, ActivationOp{wanted.activation});
    }
    for (size_t i = 0; i < rest.size(); ++i) {
      const auto& [name, op] = rest[i];
      const Shape y = std::holds_alternative<PoolOp>(op) ? fusion.step.outputs[0].shape : x.shape;
      Step step{.op = op, .inputs = {{.shape = x.shape}}, .outputs = {{.shape = y}}};
      std::vector<Source> sources{x};
      if (std::holds_alternative<AddOp>(op)) {
        sources.push_back({arrays_.of(fusion.inputs[2]), {x.shape[1], 1, 1}, true});
        step.inputs.push_back({.shape = sources[1].shape, .constant = true});
      }
      const size_t output = i + 1 == rest.size() ? arrays_.add(fusion.output) : arrays_.add_scratch(y);
      add_step(std::move(step), sources, output, name);
      x = {output, y};
    }
  }

  /// Assigns the formats that were chosen for its readers to an operator, or nchw. A node alone always gets a step.
  bool in_any(const Fusion& fusion) {
    Step step = fusion.step;
    Operand& y = step.outputs[0];
    const bool takes_pixels = std::holds_alternative<ActivationOp>(step.op);
    const bool scales = std::holds_alternative<ScaleOp>(step.op);
    std::vector<Source> sources;
    for (const ValueId input : fusion.inputs) {
      const Source given = operand(input);
      sources.push_back(scales || (takes_pixels && is_pixels(given)) ? given : any_operand(input));
    }
    set_formats(step, sources);
    if (scales) y.format = kRawPixels;
    if (!is_supported(request_, step)) {
      if (fusion.nodes.size() > 1) return false;
      for (size_t i = 0; i < sources.size() && !scales; ++i) sources[i] = plain_operand(fusion.inputs[i]);
      set_formats(step, sources);
    }
    if (step.inputs[0].format.order != Order::nchw) {
      y.format = format_for_readers(request_, fusion.output);
      if (!is_supported(request_, step)) y.format = kNchw;
    }
    const size_t output = arrays_.add(fusion.output, y.format);
    add_step(std::move(step), sources, output, fusion.name_with(fusion.step.epilogue));
    return true;
  }

  [[noreturn]] void fail_without_kernel(const Fusion& fusion, const std::string& refusals) const {
    const std::string& model = request_.graph.name;
    const std::string text =
        fmt::format("node '{}' (Conv, {}): ", fusion.name, to_text(conv_step(fusion.step).problem));
    if (!request_.options.kernel.empty()) {
      throw in_file(model, bad_input("{}not supported by the requested kernel: {}", text, refusals));
    }
    if (request_.chosen != nullptr) {
      throw bad_input("{}: {}: {}not supported by the file's kernel: {}; tune again",
                      request_.options.choices->at(request_.chosen->kernels[convolutions_].line), model, text,
                      refusals);
    }
    throw in_file(model, unavailable("{}no kernel on {} supports it in {}: {}", text, name_of(request_.caps.kind),
                                     name_of(request_.options.math), refusals.empty() ? "no candidates" : refusals));
  }

  const PlanRequest& request_;
  Draft draft_;
  DraftArrays arrays_;
  size_t convolutions_ = 0;  // in the draft so far
  std::vector<bool> done_;   // by node: computed by the step of an earlier node
  std::map<std::tuple<size_t, Order, ElementType, Shape>, size_t> copies_;  // by array, format, shape: see copy_of()
  std::map<ValueId, JointPlace> places_;
  std::map<ValueId, size_t> joints_;  // by output of a Concat
};

}  // namespace

Draft assign_formats(const PlanRequest& request, const std::vector<std::vector<Fusion>>& fusions) {
  return Assigner(request).run(fusions);
}

}  // namespace convlab
