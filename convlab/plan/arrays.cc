#include "convlab/plan/arrays.h"

#include <utility>

#include "convlab/plan/arena.h"
#include "convlab/rewrite/readers.h"

namespace convlab {

PlanArrays::PlanArrays(const PlanRequest& request)
    : request_(request), output_root_(root_of(request.graph, request.graph.output)) {
  of_value_[request.graph.input] = add_at(Location::Place::input, 0);
  arrays_.back().pixels = request.options.input == ElementType::u8;
}

size_t PlanArrays::add_at(Location::Place place, int64_t at) {
  arrays_.push_back({.location = {place, at}});
  return arrays_.size() - 1;
}

size_t PlanArrays::add_output() { return add_at(Location::Place::output, 0); }

size_t PlanArrays::add_scratch(const Shape& shape, Layout layout) {
  arrays_.push_back({.bytes = layout_bytes(shape, layout), .layout = layout, .written = shape});
  return arrays_.size() - 1;
}

size_t PlanArrays::of(ValueId value) {
  const auto found = of_value_.find(value);
  if (found != of_value_.end()) return found->second;
  return of_value_[value] = add_at(Location::Place::constant, value);
}

size_t PlanArrays::add(ValueId value, Layout layout) {
  return of_value_[value] = value == output_root_ ? add_output() : add_scratch(request_.shape_of(value), layout);
}

size_t PlanArrays::add_pixels(ValueId value) {
  const Shape& shape = request_.shape_of(value);
  arrays_.push_back({.bytes = layout_bytes(shape, Layout::plain, ElementType::u8), .written = shape, .pixels = true});
  return of_value_[value] = arrays_.size() - 1;
}

void PlanArrays::note_step(std::vector<size_t> inputs, size_t output) {
  const auto now = static_cast<int64_t>(uses_.size());
  for (const size_t input : inputs) arrays_[input].last = now;
  arrays_[output].first = arrays_[output].last = now;
  uses_.push_back({std::move(inputs), output});
}

void PlanArrays::place(Plan& plan) {
  std::vector<Lifetime> lifetimes;
  std::vector<int64_t*> places;
  for (PlanArray& array : arrays_) {
    if (array.location.place != Location::Place::arena) continue;
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
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for (const size_t input : uses_[i].inputs) plan.steps[i].inputs.push_back(arrays_[input].location);
    plan.steps[i].output = arrays_[uses_[i].output].location;
  }
}

}  // namespace convlab
