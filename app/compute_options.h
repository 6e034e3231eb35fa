#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/options.h"
#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"
#include "convlab/plan/words.h"

namespace convlab::app {

/// Where and how to compute convolutions: the options that several commands share.
struct ComputeOptions {
  std::string device = "auto";
  std::string kernel = "auto";
  std::optional<Math> asked_math;
  int64_t threads = 0;    ///< 0: as many as this process may use
  std::string plan_file;  ///< whose kernels are taken; "": the planner chooses. See replay_plan_file()

  /// What --math says; without it, what the kernel asked for by name computes in, or fp32.
  Math math() const;

  DeviceOptions device_options(StageObserver* observer = nullptr) const {
    return {.threads = static_cast<int>(threads), .observer = observer};
  }

  /// Opens the device. Error(unavailable) also if it has no kernel that computes in `math`: who asks for faster, less
  /// precise arithmetic wants to see that, and more precise arithmetic in its place would mislead.
  std::unique_ptr<Device> open(StageObserver* observer = nullptr) const;

  /// As open(), for commands that use all GPUs at once if asked to (kAllGpus): one device or more.
  std::vector<std::unique_ptr<Device>> open_all(StageObserver* observer) const;

  /// The plan that these options ask for, of inputs of this type.
  PlanOptions plan_options(PlanMode mode, ElementType input) const;
};

// The options that set these.
void add_device(CLI::App& options, ComputeOptions& compute);
void add_threads(CLI::App& options, ComputeOptions& compute);
void add_math(CLI::App& options, ComputeOptions& compute);

/// The device's kernels whose names match --kernel: one or more, otherwise an Error that names similar ones.
std::vector<const ConvKernel*> kernels_matching(const std::string& pattern, DeviceKind device);

/// --device, --kernel, --math and --threads.
void add_compute(CLI::App& options, ComputeOptions& compute);

}  // namespace convlab::app
