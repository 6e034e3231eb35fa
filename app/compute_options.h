#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/option_parsers.h"
#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"
#include "convlab/plan/plan_options.h"

namespace convlab::app {

/// Where and how to compute convolutions: the options that several commands share.
struct ComputeOptions {
  std::string device = "auto";
  std::string kernel = "auto";
  std::optional<Math> asked_math;
  int64_t threads = 0;    ///< 0: as many as this process may use
  std::string plan_file;  ///< use its kernels; "": the planner chooses. See replay_plan_file()

  /// Returns the value of --math; without it, the math of the kernel that --kernel names, or fp32.
  Math math() const;

  DeviceOptions device_options(StageObserver* observer = nullptr) const {
    return {.threads = static_cast<int>(threads), .observer = observer};
  }

  /// Opens the device. Throws Error(unavailable) if it is missing or has no kernel that computes in `math`: falling
  /// back to slower, more precise arithmetic without an error would be misleading.
  std::unique_ptr<Device> open(StageObserver* observer = nullptr) const;

  /// Same as open(), for commands that can use all GPUs at once (kAllGpus). Returns at least one device.
  std::vector<std::unique_ptr<Device>> open_all(StageObserver* observer) const;

  /// Returns the plan options for inputs of this type.
  PlanOptions plan_options(PlanMode mode, ElementType input) const;
};

/// Names of one device, for --help.
constexpr std::string_view kOneDevice = "auto, cpu, cuda, cuda:1 or simt";

/// Prints a note if --math has no effect on the plan: all of its steps are more precise.
void note_unused_math(const Plan& plan);

/// The note, for steps of these maths. `whose`: " on B", or "".
void note_unused_math(Math wanted, std::span<const Math> steps, std::string_view whose);

// These functions add the options that set the members. `devices`: the names that --device accepts.
void add_device(CLI::App& options, ComputeOptions& compute, std::string_view devices = kOneDevice);
void add_threads(CLI::App& options, ComputeOptions& compute);
void add_math(CLI::App& options, ComputeOptions& compute);

/// Returns the device's kernels whose names match `pattern`, the value of --kernel; at least one. Throws
/// Error(bad_input) if there is none, with similar names if `pattern` is a name.
std::vector<const Kernel*> kernels_matching(const std::string& pattern, DeviceKind device);

/// Adds --device, --kernel, --math and --threads.
void add_compute(CLI::App& options, ComputeOptions& compute, std::string_view devices = kOneDevice);

}  // namespace convlab::app
