// Makes the plan of a graph in four passes.

#include "convlab/plan/planner.h"

#include <fmt/format.h>

#include "convlab/plan/assign_formats.h"
#include "convlab/plan/choose.h"
#include "convlab/plan/fuse.h"
#include "convlab/plan/place.h"
#include "convlab/plan/prepare.h"

namespace convlab {

Plan make_plan(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options) {
  const PlanRequest request = plan_request(graph, inputs, caps, options);
  const Draft draft = assign_formats(request, fuse(request));
  Plan plan = choose(request, draft);
  place(draft, plan);
  return plan;
}

std::string passes_text(const Graph& graph, InputShapes inputs, const DeviceCaps& caps, const PlanOptions& options) {
  const PlanRequest request = plan_request(graph, inputs, caps, options);
  const std::vector<std::vector<Fusion>> fusions = fuse(request);
  const Draft draft = assign_formats(request, fusions);
  Plan plan = choose(request, draft);
  std::string text = fmt::format(
      "pass 1, fuse: which nodes one step may compute, preferred first\n{}\n"
      "pass 2, assign formats: the fusions used, and the format of each value\n{}\n"
      "pass 3, choose: kernels, preferred first\n",
      to_text(fusions), to_text(draft));
  for (const PlanStep& step : plan.steps) {
    std::string rivals;
    for (size_t i = 1; i < step.fitting.size(); ++i) {
      rivals += fmt::format("{}{}", i == 1 ? ", before " : ", ", step.fitting[i]->info.name);
    }
    text += fmt::format("  {}: {}{}\n", step.name, step.kernel->info.name, rivals);
  }
  place(draft, plan);
  return text + fmt::format("\npass 4, place: where each step finds its arrays, in an arena of {} bytes\n{}",
                            plan.arena_bytes, locations_text(plan));
}

}  // namespace convlab
