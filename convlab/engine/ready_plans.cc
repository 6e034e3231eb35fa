#include "convlab/engine/ready_plans.h"

#include <algorithm>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/engine/batch_size.h"

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

ReadyPlans::ReadyPlans(const BatchedGraph& graph, Device& device, Stream& stream, const EngineOptions& options)
    : graph_(graph),
      device_(device),
      stream_(stream),
      options_(options),
      constants_(graph.graph(), device, stream),
      memory_(device) {
  of(graph.batch());
}

std::shared_ptr<ReadyPlan> ReadyPlans::of(int64_t n) {
  const auto known = std::ranges::find(plans_, n, &Entry::n);
  if (known != plans_.end()) return known->plan;
  Plan plan = planned(n);
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
