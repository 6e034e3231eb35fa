#include "convlab/engine/ready_plans.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/engine/batch_size.h"
#include "convlab/engine/plan_facts.h"

namespace convlab {
namespace {

/// How many plans we keep besides the full batch's: a last batch's size and a batch's chunks come again and again.
constexpr size_t kPlansKept = 16;

bool same_steps(const Plan& a, const Plan& b) {
  return std::equal(
      a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(), [](const PlanStep& x, const PlanStep& y) {
        return x.name == y.name && x.conv == y.conv && x.op == y.op && x.prepared_bytes == y.prepared_bytes;
      });
}

}  // namespace

ReadyPlans::ReadyPlans(BatchedGraph& graph, int64_t images, Device& device, Stream& stream,
                       const EngineOptions& options)
    : graph_(graph),
      device_(device),
      stream_(stream),
      options_(options),
      gives_up_(options.same_count && reads_host_memory(device)),
      constants_(graph.graph(), device, stream),
      memory_(device) {
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
    constants_.expect(others.back().second, !same_steps(plan, others.back().second));
  }
  add(batch, std::move(plan));
  for (auto& [n, other] : others) add(n, std::move(other));
}

std::shared_ptr<ReadyPlan> ReadyPlans::of(int64_t n) {
  const auto known = std::ranges::find(plans_, n, &Entry::n);
  if (known != plans_.end()) return known->plan;
  if (gives_up_) {
    throw bad_input("{}: a batch of {} images; the engine is made for another number", graph_.graph().name, n);
  }
  return add(n, planned(n));
}

std::shared_ptr<ReadyPlan> ReadyPlans::add(int64_t n, Plan plan) {
  memory_.make_room(plan, options_.observer);
  constants_.place(plan, options_.observer);
  const ReadyPlan* full = !plans_.empty() && same_steps(this->full(), plan) ? plans_.front().plan.get() : nullptr;
  auto ready = std::make_shared<ReadyPlan>(std::move(plan), constants_, memory_, full);
  if (full == nullptr) {
    const Observed part(options_.observer, {Stage::weights});
    const double seconds = ready->prepare(device_, stream_);
    if (plans_.empty()) prepare_seconds_ = seconds;
  }
  if (plans_.size() > kPlansKept) plans_.erase(plans_.begin() + 1);
  plans_.push_back({n, ready});
  return ready;
}

Plan ReadyPlans::planned(int64_t n) const {
  const Observed part(options_.observer, {Stage::planning});
  Plan plan = make_plan(graph_.graph(), graph_.input_of(n), device_.caps(), options_.plan);
  const int64_t wanted = run_bytes(plan);
  if (wanted > device_.caps().memory_bytes) {
    throw bad_input("{}: a batch of {} images needs {} bytes of memory, {} has {}{}", graph_.graph().name, n, wanted,
                    device_.caps().name, device_.caps().memory_bytes,
                    n > 1 ? "; give a smaller --batch" : ", too little for a single image");
  }
  return plan;
}

}  // namespace convlab
