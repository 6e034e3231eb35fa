// Packs a plan's weights and launches its steps.

#include "convlab/engine/ready_plan.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "convlab/base/checked.h"
#include "convlab/base/clock.h"

namespace convlab {
namespace {

/// Bytes; the alignment of cudaMalloc().
constexpr int64_t kPreparedAlignment = 256;

/// Returns the plan's steps in the order in which to pack their weights, largest first: while the largest weights exist
/// twice, as constants and packed, no others do.
std::vector<size_t> largest_first(const Plan& plan) {
  std::vector<size_t> order(plan.steps.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return plan.steps[i].prepared_bytes; });
  return order;
}

}  // namespace

std::optional<double> ReadyPlan::prepare(Device& device, Stream& stream, SharedWeights& shared,
                                         StageObserver* observer) {
  constants_.place(*plan_, shared, observer);
  std::optional<double> seconds;
  prepared_ = shared.prepared(device.caps().name, plan_, [&] {
    const Observed part(observer, {Stage::weights});
    return packed(device, stream, seconds.emplace());
  });
  return seconds;
}

PreparedWeights ReadyPlan::packed(Device& device, Stream& stream, double& seconds) {
  const DeviceConstants::Packing all(constants_, *plan_);
  const std::vector<size_t> order = largest_first(*plan_);
  PreparedWeights weights;
  weights.at.resize(plan_->steps.size());
  int64_t bytes = 0;
  for (const size_t i : order) {
    weights.at[i] = static_cast<size_t>(bytes);
    bytes = checked_add(bytes, round_up(static_cast<int64_t>(plan_->steps[i].prepared_bytes), kPreparedAlignment));
  }
  if (bytes > 0) weights.buffer = device.allocate(static_cast<size_t>(bytes));
  const auto begin = Clock::now();
  for (const size_t i : order) {
    const auto prepare = plan_->steps[i].kernel->prepare;
    if (prepare != nullptr) call(prepare, i, stream, weights, {}, {});
    constants_.note_packed(plan_->steps[i]);
  }
  stream.synchronize();
  seconds = seconds_since(begin);
  return weights;
}

void ReadyPlan::launch(Stream& stream, Inputs inputs, Outputs outputs, StageObserver* observer,
                       std::vector<double>* seconds) {
  for (size_t i = 0; i < plan_->steps.size(); ++i) {
    if (seconds != nullptr) stream.synchronize();
    SetAside& aside = stream.attached<SetAside>();
    aside.take();
    const auto begin = Clock::now();
    const PlanStep& step = plan_->steps[i];
    const Observed part(observer, {Stage::step, step.name, step.kernel->info.name});
    call(step.kernel->launch, i, stream, *prepared_, inputs, outputs);
    if (seconds == nullptr) continue;
    stream.synchronize();
    (*seconds)[i] += seconds_since(begin) - aside.take().seconds;
  }
  ++turn_;
}

/// Returns an array's address; null for a run's arrays while weights are prepared, before there is a run.
const void* ReadyPlan::address(const Location& location, Inputs inputs, Outputs outputs) const {
  const bool runs = !outputs.empty();
  switch (location.place) {
    case Location::Place::input:
      return runs ? inputs[static_cast<size_t>(location.at)] : nullptr;
    case Location::Place::output:
      return runs ? outputs[static_cast<size_t>(location.at)] : nullptr;
    case Location::Place::constant:
      return constants_.address(static_cast<ValueId>(location.at));
    case Location::Place::arena:
      return runs ? memory_.arena() + location.at : nullptr;
  }
  return nullptr;
}

/// Returns the prepared weights of the next step that has any, at most the first kMost bytes.
PrefetchHint ReadyPlan::prefetch_after(size_t i, const PreparedWeights& weights) const {
  constexpr int64_t kMost = 8 << 20;  // more would be evicted from an H100's L2 before it is read
  while (++i < plan_->steps.size()) {
    const auto bytes = static_cast<int64_t>(plan_->steps[i].prepared_bytes);
    if (bytes > 0) return {.from = weights.of(i), .bytes = std::min(bytes, kMost)};
  }
  return {};
}

void ReadyPlan::call(void (*function)(const Args&, Stream&), size_t i, Stream& stream, const PreparedWeights& weights,
                     Inputs inputs, Outputs outputs) {
  const PlanStep& step = plan_->steps[i];
  addresses_.clear();
  const bool packed = !outputs.empty() && step.kernel->packs_weights;
  for (size_t input = 0; input < step.inputs.size(); ++input) {
    const void* at = packed && input == PlanStep::kWeights ? nullptr : address(step.inputs[input], inputs, outputs);
    addresses_.push_back(at);
  }
  void* const y = const_cast<void*>(address(step.output, inputs, outputs));
  void* workspace = step.workspace_bytes > 0 ? memory_.arena() + step.workspace_at : nullptr;
  function({.step = step.what,
            .inputs = addresses_,
            .outputs = {&y, 1},
            .prepared = weights.of(i),
            .workspace = workspace,
            .prefetch = prefetch_after(i, weights),
            .turn = turn_},
           stream);
}

}  // namespace convlab
