// convlab profile --device simt --counters: counts the memory accesses of kernels on the host.

#include "app/count.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "app/guests/guest_kernels.h"
#include "app/guests/registers.h"
#include "app/results/counts_json.h"
#include "convlab/base/error.h"
#include "convlab/device/simt.h"
#include "convlab/kernel_file/source.h"
#include "convlab/profile/count_kernel.h"
#include "convlab/warps/kernel_lessons.h"
#include "convlab/warps/occupancy.h"

namespace convlab::app {
namespace {

constexpr int64_t kCountedImages = 2;  // default of -n: counts are the same for each image

ClassifyOptions options_for_counting(const RunOptions& options) {
  ClassifyOptions classify = options.classify;
  classify.compute.device = "simt";
  if (classify.images == std::numeric_limits<int64_t>::max()) classify.images = kCountedImages;
  return classify;
}

/// Returns the distinct kernels of the plan's convolutions.
std::vector<std::string> kernels_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps) {
    const bool known = std::ranges::find(names, step.kernel->info.name) != names.end();
    if (step.is_conv() && !known) names.emplace_back(step.kernel->info.name);
  }
  return names;
}

}  // namespace

bool counts_on_simt(const RunOptions& options) {
  const ComputeOptions& compute = options.classify.compute;
  if (compute.device != "auto" || !names_kernel_file(compute.kernel)) return compute.device == "simt";
  return device_for(read_kernel_source(compute.kernel), compute.device) == "simt";
}

void count(const RunOptions& options, Output& output) {
  if (!simt_present()) throw unavailable("--device simt: {}", how_to_get_simt());
  const ClassifyOptions classify = options_for_counting(options);
  // Without --kernel, the kernels are those of the plan.
  std::unique_ptr<Classifier> classifier;
  std::vector<std::string> names{classify.compute.kernel};
  if (names.front() == "auto") {
    classifier = load_classifier(classify);
    names = kernels_of(classifier->model->plan());
  }
  if (run_in_guest(names, classify.compute.device, GuestWork::counting)) return;

  if (!classifier) classifier = load_classifier(classify);
  std::vector<CountedKernel> counted;
  for (const PlanStep& step : classifier->model->plan().steps) {
    if (!step.is_conv()) continue;
    const std::string kernel(step.kernel->info.name);
    std::vector<KernelCounts> functions = count_kernel(*step.kernel, step.what, *classifier->devices.front());
    add_registers(kernel, kUsualCapability, functions);
    for (KernelCounts& counts : functions) {
      counted.push_back({step.name, kernel, std::move(counts)});
    }
  }
  const int64_t images = classifier->count();
  output.print("{} image{} of {} on simt\n{}", images, images == 1 ? "" : "s", classify.model, counts_legend());
  for (const CountedKernel& each : counted) output.print("\n{}: {}: {}", each.layer, each.kernel, to_text(each.counts));
  write_json(output, CountsResult{.model = classify.model, .images = images, .kernels = counted});
}

}  // namespace convlab::app
