// Assigns values to arrays while formats are assigned.

#include "convlab/plan/draft.h"

#include <fmt/format.h>

#include "convlab/kernels/conv_step.h"
#include "convlab/plan/kept_formats.h"
#include "convlab/rewrite/readers.h"

namespace convlab {

std::string to_text(const Draft& draft) {
  std::string text;
  for (const DraftStep& step : draft.steps) {
    const auto listed = [](const std::vector<Operand>& operands) {
      std::string list;
      for (const Operand& each : operands) {
        if (each.constant) continue;
        list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name_of(each.format), to_text(each.shape));
      }
      return list;
    };
    text += fmt::format("  {}: {} -> {}, {} kernel{}\n", step.name, listed(step.what.inputs), listed(step.what.outputs),
                        step.kernels.size(), step.kernels.size() == 1 ? "" : "s");
  }
  return text;
}

DraftArrays::DraftArrays(const PlanRequest& request, std::vector<DraftArray>& arrays)
    : request_(request), arrays_(arrays) {
  const Graph& graph = request.graph;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    output_of_root_.try_emplace(root_of(graph, graph.outputs[i].value), i);
  }
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    of_value_[graph.inputs[i].value] =
        add_at(Location::Place::input, static_cast<int64_t>(i), {Order::nchw, request.options.input});
  }
}

size_t DraftArrays::add_at(Location::Place place, int64_t number, Format format) {
  arrays_.push_back({.place = place, .number = number, .format = format});
  return arrays_.size() - 1;
}

size_t DraftArrays::add_output(size_t number) { return add_at(Location::Place::output, static_cast<int64_t>(number)); }

size_t DraftArrays::add_scratch(const Shape& shape, Format format) {
  if (format == kNchw8c && one_pixel(shape)) format = kNchw;
  arrays_.push_back({.bytes = byte_count(shape, format), .format = format, .written = shape});
  return arrays_.size() - 1;
}

size_t DraftArrays::of(ValueId value) {
  const auto found = of_value_.find(value);
  if (found != of_value_.end()) return found->second;
  return of_value_[value] = add_at(Location::Place::constant, value);
}

size_t DraftArrays::add(ValueId value, Format format) {
  const auto output = output_of_root_.find(value);
  const bool own_format =
      (request_.keeps_channels() && format == request_.channels) || format == kNhwc4U8 || format == kRawPixels;
  const bool scratch = output == output_of_root_.end() || own_format;
  return of_value_[value] = scratch ? add_scratch(request_.shape_of(value), format) : add_output(output->second);
}

size_t DraftArrays::add_part(const Shape& shape, size_t joint, int64_t first, int64_t pitch) {
  const int64_t elements_before = request_.channels == kNchw8c ? first * shape[2] * shape[3] : first;
  arrays_.push_back({.format = request_.channels,
                     .written = shape,
                     .joint = joint,
                     .at = elements_before * static_cast<int64_t>(size_of(request_.channels.type)),
                     .pitch = pitch});
  return arrays_.size() - 1;
}

}  // namespace convlab
