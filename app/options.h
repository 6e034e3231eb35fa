#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/kernels/kernel.h"
#include "convlab/plan/plan.h"

namespace convlab::app {

// Options with strict values: each rejects, as Error(bad_input) that names the option and what it takes, everything but
// a whole value in range. `names` is CLI11's: "-n,--images" for an option, "IMAGES" for a positional.

CLI::Option* add_int(CLI::App& options, const std::string& names, int64_t& value, int64_t low, int64_t high,
                     const std::string& help);
CLI::Option* add_real(CLI::App& options, const std::string& names, double& value, double low, double high,
                      const std::string& help);
CLI::Option* add_choice(CLI::App& options, const std::string& names, std::string& value,
                        const std::vector<std::string>& choices, const std::string& help);
CLI::Option* add_text(CLI::App& options, const std::string& names, std::string& value, const std::string& type,
                      const std::string& help);

/// `parse` takes the value and the option's name, for its message.
CLI::Option* add_parsed(CLI::App& options, const std::string& names, const std::string& type, const std::string& help,
                        std::function<void(const std::string& text, const std::string& name)> parse);

/// Where and how convolutions are computed: the options that several commands share.
struct ComputeOptions {
  std::string device = "auto";
  std::string kernel = "auto";
  std::optional<Math> asked_math;
  int64_t threads = 0;  ///< 0: as many as this process may use

  /// What --math says; without it, what the kernel that is asked for by name computes in, or fp32.
  Math math() const;

  DeviceOptions device_options(StageObserver* observer = nullptr) const {
    return {.threads = static_cast<int>(threads), .observer = observer};
  }

  /// Opens the device. Error(unavailable) also where it has no kernel that computes in `math`: what is faster because
  /// less precise is asked for by who wants to see it, and more precise arithmetic in its place would mislead.
  std::unique_ptr<Device> open(StageObserver* observer = nullptr) const;

  /// As open(), for commands that use all GPUs at once where these are asked for (kAllGpus): one device or more.
  std::vector<std::unique_ptr<Device>> open_all(StageObserver* observer) const;

  /// The plan that these ask for, of inputs of this type.
  PlanOptions plan_options(PlanMode mode, ElementType input) const;

 private:
  void require_math_on(DeviceKind kind) const;
};

/// "fp32", "tf32", ...; `name` is the option's, as below.
Math parse_math(const std::string& text, const std::string& name);

/// "layers" or "fused"; `name` is the option's.
PlanMode parse_plan(const std::string& text, const std::string& name);

void add_device(CLI::App& options, ComputeOptions& compute);
void add_threads(CLI::App& options, ComputeOptions& compute);
void add_math(CLI::App& options, ComputeOptions& compute);

/// The device's kernels whose names match --kernel: one or more, otherwise an Error that names what is near.
std::vector<const ConvKernel*> kernels_matching(const std::string& pattern, DeviceKind device);

/// --device, --kernel, --math and --threads.
void add_compute(CLI::App& options, ComputeOptions& compute);

}  // namespace convlab::app
