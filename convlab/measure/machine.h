#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// The machine of a measurement.
struct Machine {
  std::string device;  ///< DeviceCaps::description: "NVIDIA H200, compute capability 9.0, ..."
  std::string cpu;     ///< "Intel(R) Xeon(R) ..."
  int threads = 0;     ///< host threads that kernels use
  std::string system;  ///< "Linux 6.1.0"
  std::string driver;  ///< GPU driver, "580.65"; "" on a host

  bool operator==(const Machine&) const = default;
};

/// The program of a measurement.
struct Build {
  std::string version;   ///< convlab's version
  std::string compiler;  ///< "g++ 12.2.0"
  std::string cuda;      ///< "13.0"; "" in a build without CUDA
  std::string type;      ///< "Release"

  bool operator==(const Build&) const = default;
};

/// What may have slowed the machine down at one moment. Values that this machine does not report are absent.
struct MachineState {
  std::optional<double> clock_mhz;         ///< SM clock of a GPU, or mean clock of a CPU's cores
  std::optional<double> memory_clock_mhz;  ///< of a GPU
  std::optional<double> temperature_c;     ///< of a GPU
  std::optional<double> power_w;           ///< of a GPU
  std::optional<double> load;              ///< runnable processes: mean of the last minute
  std::vector<std::string> throttle = {};  ///< why a GPU's clock is reduced: "power", "temperature", ...

  bool operator==(const MachineState&) const = default;
};

/// Returns the current time in UTC: "2026-01-31T12:00:00Z".
std::string utc_now();

/// Returns what determines which kernels exist and which is fastest: the processor's name and its best instruction set
/// in Highway's terms ("AMD EPYC, AVX3_ZEN4"), or the GPU's description.
std::string processor_of(const DeviceCaps& caps);

Machine this_machine(const DeviceCaps& caps);
Build this_build();

/// Returns a GPU's state from NVML, loaded at the first call if a driver provides it, or a CPU's from /proc.
MachineState machine_state(const DeviceCaps& caps);

}  // namespace convlab
