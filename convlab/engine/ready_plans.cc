// Makes and keeps an engine's plans, one per batch size.

#include "convlab/engine/ready_plans.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/engine/batch_size.h"
#include "convlab/engine/plan_facts.h"
#include "convlab/plan/planner.h"

namespace convlab {
namespace {

/// The number of plans kept besides the full batch's: the last batch's size and the chunks' sizes recur in every run.
constexpr size_t kPlansKept = 16;

}  // namespace

ReadyPlans::ReadyPlans(BatchedGraph& graph, int64_t images, Device& device, Stream& stream,
                       const EngineOptions& options)
    : graph_(graph),
      device_(device),
      stream_(stream),
      options_(options),
      gives_up_((options.same_count || graph.at_once()) && device.caps().shares_host_memory()),
      weights_(options.weights ? options.weights : std::make_shared<SharedWeights>()),
      constants_(graph.graph(), device, stream),
      memory_(device) {
  if (options.weights && !gives_up_) weights_->unify(graph.graph());
  const int64_t batch = graph.batch();
  Plan plan = planned(batch);
  if (!gives_up_) {
    add(batch, std::move(plan));
    return;
  }
  graph.require_count(images, plan.outputs[0]);
  constants_.expect(plan, true);
  std::vector<std::pair<int64_t, Plan>> others;
  for (const int64_t n : graph.batches(images)) {
    if (n == batch) continue;
    others.emplace_back(n, planned(n));
    constants_.expect(others.back().second, !same_weights(plan, others.back().second));
  }
  add(batch, std::move(plan));
  for (auto& [n, other] : others) add(n, std::move(other));
}

std::shared_ptr<ReadyPlan> ReadyPlans::of(int64_t n) {
  const auto known = std::ranges::find(plans_, n, &Entry::n);
  if (known != plans_.end()) return known->plan;
  if (gives_up_) {
    throw bad_input("{}: batch size {} is not supported: the engine was built for another batch size",
                    graph_.graph().name, n);
  }
  return add(n, planned(n));
}

std::shared_ptr<ReadyPlan> ReadyPlans::add(int64_t n, Plan plan) {
  memory_.make_room(plan, options_.observer);
  auto ready = std::make_shared<ReadyPlan>(std::move(plan), constants_, memory_);
  const std::optional<double> seconds = ready->prepare(device_, stream_, *weights_, options_.observer);
  if (plans_.empty()) {
    prepare_seconds_ = seconds.value_or(0);
    if (!seconds)
      std::ranges::for_each(ready->plan().steps, [&](const PlanStep& step) { constants_.note_packed(step); });
  }
  if (plans_.size() > kPlansKept) plans_.erase(plans_.begin() + 1);
  plans_.push_back({n, ready});
  return ready;
}

Plan ReadyPlans::planned(int64_t n) const {
  const Observed part(options_.observer, {Stage::planning});
  Plan plan = make_plan(graph_.graph(), graph_.inputs_of(n), device_.caps(), options_.plan);
  const int64_t wanted = run_bytes(plan);
  if (wanted > device_.caps().memory_bytes) {
    throw bad_input("{}: batch size {} needs {} bytes of memory; {} has {}{}", graph_.graph().name, n, wanted,
                    device_.caps().name, device_.caps().memory_bytes,
                    n > 1 ? "; use a smaller batch" : ", not enough for one image");
  }
  return plan;
}

}  // namespace convlab
