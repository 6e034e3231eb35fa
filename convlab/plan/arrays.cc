// Assigns values to arrays, and arrays to the arena, while a plan is made.

#include "convlab/plan/arrays.h"

#include <utility>

#include "convlab/plan/arena.h"
#include "convlab/plan/channels.h"
#include "convlab/rewrite/readers.h"

namespace convlab {

PlanArrays::PlanArrays(const PlanRequest& request) : request_(request) {
  const Graph& graph = request.graph;
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    output_of_root_.try_emplace(root_of(graph, graph.outputs[i].value), i);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    of_value_[graph.inputs[i].value] = add_at(Location::Place::input, static_cast<int64_t>(i));
    arrays_.back().format = {Order::nchw, request.options.input};
  }
}

size_t PlanArrays::add_at(Location::Place place, int64_t at) {
  arrays_.push_back({.location = {place, at}});
  return arrays_.size() - 1;
}

size_t PlanArrays::add_output(size_t number) { return add_at(Location::Place::output, static_cast<int64_t>(number)); }

size_t PlanArrays::add_scratch(const Shape& shape, Format format) {
  if (format == kNchw8c && one_pixel(shape)) format = kNchw;
  arrays_.push_back({.bytes = byte_count(shape, format), .format = format, .written = shape});
  return arrays_.size() - 1;
}

size_t PlanArrays::of(ValueId value) {
  const auto found = of_value_.find(value);
  if (found != of_value_.end()) return found->second;
  return of_value_[value] = add_at(Location::Place::constant, value);
}

size_t PlanArrays::add(ValueId value, Format format) {
  const auto output = output_of_root_.find(value);
  const bool own_layout = (request_.keeps_channels() && format == request_.channels) || format == kNhwc4U8;
  const bool scratch = output == output_of_root_.end() || own_layout;
  return of_value_[value] = scratch ? add_scratch(request_.shape_of(value), format) : add_output(output->second);
}

size_t PlanArrays::add_pixels(ValueId value) {
  const Shape& shape = request_.shape_of(value);
  arrays_.push_back({.bytes = byte_count(shape, kRawPixels), .format = kRawPixels, .written = shape});
  return of_value_[value] = arrays_.size() - 1;
}

size_t PlanArrays::add_part(const Shape& shape, size_t joint, int64_t channels, int64_t first) {
  const int64_t pixels = shape[2] * shape[3];
  const bool lanes = request_.channels == kNchw8c;
  arrays_.push_back({.format = request_.channels,
                     .written = shape,
                     .joint = joint,
                     .at = (lanes ? first * pixels : first) * static_cast<int64_t>(size_of(request_.channels.type)),
                     .step = lanes ? channels * pixels : channels});
  return arrays_.size() - 1;
}

/// Returns the array that has memory of its own: this one, or the joint array that contains it.
PlanArray& PlanArrays::owner(size_t array) {
  PlanArray& it = arrays_[array];
  return it.joint ? arrays_[*it.joint] : it;
}

void PlanArrays::note_step(std::vector<size_t> inputs, size_t output) {
  const auto now = static_cast<int64_t>(uses_.size());
  for (const size_t input : inputs) owner(input).last = now;
  PlanArray& written = owner(output);
  if (written.first < 0) written.first = now;
  written.last = now;
  uses_.push_back({std::move(inputs), output});
}

void PlanArrays::place(Plan& plan) {
  std::vector<Lifetime> lifetimes;
  std::vector<int64_t*> places;
  for (PlanArray& array : arrays_) {
    if (array.location.place != Location::Place::arena || array.joint) continue;
    lifetimes.push_back({array.bytes, array.first, array.last});
    places.push_back(&array.location.at);
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    PlanStep& step = plan.steps[i];
    if (step.workspace_bytes == 0) continue;
    const auto now = static_cast<int64_t>(i);
    lifetimes.push_back({static_cast<int64_t>(step.workspace_bytes), now, now});
    places.push_back(&step.workspace_at);
  }
  const Arena arena = pack_arena(lifetimes);
  for (size_t i = 0; i < places.size(); ++i) *places[i] = arena.at[i];
  plan.arena_bytes = arena.bytes;
  for (PlanArray& array : arrays_) {
    if (array.joint) array.location.at = arrays_[*array.joint].location.at + array.at;
  }
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const size_t input : uses_[i].inputs) plan.steps[i].inputs.push_back(arrays_[input].location);
    plan.steps[i].output = arrays_[uses_[i].output].location;
  }
}

}  // namespace convlab
