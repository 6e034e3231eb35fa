// Implements the options for device, kernel, math and threads.

#include "app/compute_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/results/output.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/devices.h"
#include "convlab/kernels/registry.h"

namespace convlab::app {
namespace {

constexpr int64_t kMostThreads = 1024;

}  // namespace

Math ComputeOptions::math() const {
  if (asked_math) return *asked_math;
  for (const Kernel& each : conv_kernels()) {
    if (each.info.name == kernel) return each.info.math;
  }
  return Math::fp32;
}

std::unique_ptr<Device> ComputeOptions::open(StageObserver* observer) const {
  std::unique_ptr<Device> opened = open_device(device, device_options(observer));
  require_math(math(), opened->caps().kind, "--math");
  return opened;
}

std::vector<std::unique_ptr<Device>> ComputeOptions::open_all(StageObserver* observer) const {
  std::vector<std::unique_ptr<Device>> opened = open_devices(device, device_options(observer));
  require_math(math(), opened.front()->caps().kind, "--math");
  return opened;
}

PlanOptions ComputeOptions::plan_options(PlanMode mode, ElementType input) const {
  return {.mode = mode, .math = math(), .kernel = kernel == "auto" ? "" : kernel, .input = input};
}

void note_unused_math(Math wanted, std::span<const Math> steps, std::string_view whose) {
  if (wanted == Math::fp32 || std::ranges::any_of(steps, [](Math math) { return math > Math::fp32; })) return;
  note("--math {} has no effect{}: all steps compute in fp32, for which this device has preferred kernels",
       name_of(wanted), whose);
}

void note_unused_math(const Plan& plan) {
  std::vector<Math> steps;
  for (const PlanStep& step : plan.steps) steps.push_back(step.kernel->info.math);
  note_unused_math(plan.options.math, steps, "");
}

void add_device(CLI::App& options, ComputeOptions& compute, std::string_view devices) {
  add_text(options, "--device", compute.device, "D", fmt::format("{} (default: auto)", devices));
}

void add_threads(CLI::App& options, ComputeOptions& compute) {
  add_int(options, "--threads", compute.threads, 1, kMostThreads,
          "host threads (default: all that this process may use)");
}

void add_math(CLI::App& options, ComputeOptions& compute) {
  add_parsed(
      options, "--math", "fp32|tf32|bf16x2|bf16|fp16",
      "minimum precision of convolutions (default: that of --kernel, or fp32)",
      [&compute](const std::string& text, const std::string& name) { compute.asked_math = parse_math(text, name); });
}

std::vector<const Kernel*> kernels_matching(const std::string& pattern, DeviceKind device) {
  if (pattern.find_first_of("*?") == std::string::npos) return {&require_kernel(pattern, device)};
  std::vector<const Kernel*> matching;
  for (const Kernel& kernel : kernels()) {
    if (kernel.info.device == device && glob_match(pattern, kernel.info.name)) matching.push_back(&kernel);
  }
  if (matching.empty()) {
    throw bad_input("--kernel {}: no kernel for device {} matches; 'convlab list kernels' lists all", pattern,
                    name_of(device));
  }
  return matching;
}

void add_compute(CLI::App& options, ComputeOptions& compute, std::string_view devices) {
  add_device(options, compute, devices);
  add_text(options, "--kernel", compute.kernel, "K", "kernel or kernel file for all convolutions (default: auto)");
  add_math(options, compute);
  add_threads(options, compute);
}

}  // namespace convlab::app
