#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// Where something was measured.
struct Machine {
  std::string device;  ///< DeviceCaps::description: "NVIDIA H200, compute capability 9.0, ..."
  std::string cpu;     ///< "Intel(R) Xeon(R) ..."
  int threads = 0;     ///< of host work, in kernels of the host
  std::string system;  ///< "Linux 6.1.0"
  std::string driver;  ///< the GPU's, "580.65"; "" on a host

  bool operator==(const Machine&) const = default;
};

/// The program that measured it.
struct Build {
  std::string version;   ///< convlab's
  std::string compiler;  ///< "g++ 12.2.0"
  std::string cuda;      ///< "13.0"; "" in a build without CUDA
  std::string type;      ///< "Release"

  bool operator==(const Build&) const = default;
};

/// What may have slowed the machine down at one moment. Values that this machine does not tell are absent.
struct MachineState {
  std::optional<double> clock_mhz;         ///< of the GPU's multiprocessors, or of the CPU, mean over its cores
  std::optional<double> memory_clock_mhz;  ///< of a GPU
  std::optional<double> temperature_c;     ///< of a GPU
  std::optional<double> power_w;           ///< of a GPU
  std::optional<double> load;              ///< processes that want a CPU: the last minute's mean
  std::vector<std::string> throttle = {};  ///< why a GPU's clock is held down: "power", "temperature", ...

  bool operator==(const MachineState&) const = default;
};

/// Now, in UTC: "2026-01-31T12:00:00Z".
std::string utc_now();

/// What decides which kernels are there, and the fastest: the processor's name and the best of its instruction sets, as
/// Highway calls them ("AMD EPYC, AVX3_ZEN4"), or the GPU's description.
std::string processor_of(const DeviceCaps& caps);

Machine this_machine(const DeviceCaps& caps);
Build this_build();

/// A GPU's by NVML, loaded at the first call where a driver brings it; a CPU's by /proc.
MachineState machine_state(const DeviceCaps& caps);

}  // namespace convlab
