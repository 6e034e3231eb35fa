// Reads GPU counters from JSON.

#include "convlab/evidence/saved_counters.h"

#include <algorithm>

#include "convlab/measure/json_members.h"

namespace convlab {

SavedCounters counters_of_profile(const JsonMembers& from, const SavedProfile& profile) {
  SavedCounters saved{.kernel = profile.forced_kernel(),
                      .model = profile.model,
                      .device = profile.device_name,
                      .images = profile.images};
  const JsonMembers utilisation = from.object("utilisation");
  utilisation.read("refusal", saved.refusal);
  utilisation.objects("kernels", [&](const JsonMembers& entry) {
    KernelCounters& counters = saved.functions.emplace_back();
    entry.read("name", counters.kernel);
    entry.read("part", counters.part);
    entry.object("metrics").numbers(
        [&](const std::string& name, double value) { counters.metrics.emplace_back(name, value); });
  });
  return saved;
}

std::vector<SavedCounters> counters_of_comparison(const JsonMembers& from) {
  SavedCounters common;
  from.read("model", common.model);
  from.read("gpu", common.device);
  from.read("images", common.images);
  std::vector<SavedCounters> all;
  from.objects("rows", [&](const JsonMembers& row) {
    std::string kernel;
    row.read_kernel_name("kernel", kernel);
    auto saved = std::ranges::find(all, kernel, &SavedCounters::kernel);
    if (saved == all.end()) {
      saved = all.insert(all.end(), common);
      saved->kernel = kernel;
    }
    KernelCounters ours;
    row.read("function", ours.kernel);
    row.read("layer", ours.part);
    KernelCounters theirs = ours;
    row.object("metrics").each_object([&](const std::string& name, const JsonMembers& metric) {
      metric.read("convlab", ours.metrics.emplace_back(name, 0.0).second);
      metric.read("ncu", theirs.metrics.emplace_back(name, 0.0).second);
    });
    saved->functions.push_back(std::move(ours));
    saved->ncu.push_back(std::move(theirs));
  });
  return all;
}

}  // namespace convlab
