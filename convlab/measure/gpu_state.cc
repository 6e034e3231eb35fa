// Reads a GPU's clocks, temperature and power through NVML.

#include "convlab/measure/gpu_state.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <utility>

namespace convlab {
namespace {

// The part of NVML that we use (NVIDIA's "NVML API Reference Guide"). No package that the build uses has its header.
using NvmlDevice = void*;
constexpr int kSuccess = 0, kClockSm = 1, kClockMemory = 2, kTemperatureGpu = 0;
constexpr unsigned kVersionBytes = 80;

/// Loads NVML only when needed: it comes with the driver, not with the toolkit.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) { ready_ = call("nvmlInit_v2"); }
  ~Nvml() {
    if (ready_) call("nvmlShutdown");
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Calls a function with these arguments, whose types must be its parameters' types. Returns false if it is missing
  /// or fails.
  template <class... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    if (library_ == nullptr) return false;
    const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name));
    return function != nullptr && function(arguments...) == kSuccess;
  }

 private:
  void* library_;
  bool ready_ = false;
};

bool find_device(const Nvml& nvml, NvmlDevice& device) {
  int index = 0;
  std::array<char, 32> bus{};
  return cudaGetDevice(&index) == cudaSuccess &&
         cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), index) == cudaSuccess &&
         nvml.call("nvmlDeviceGetHandleByPciBusId_v2", static_cast<const char*>(bus.data()), &device);
}

}  // namespace

MachineState gpu_state() {
  const Nvml nvml;
  NvmlDevice device = nullptr;
  if (!find_device(nvml, device)) return {};
  MachineState state;
  unsigned value = 0;
  if (nvml.call("nvmlDeviceGetClockInfo", device, kClockSm, &value)) state.clock_mhz = value;
  if (nvml.call("nvmlDeviceGetClockInfo", device, kClockMemory, &value)) state.memory_clock_mhz = value;
  if (nvml.call("nvmlDeviceGetTemperature", device, kTemperatureGpu, &value)) state.temperature_c = value;
  if (nvml.call("nvmlDeviceGetPowerUsage", device, &value)) state.power_w = value * 1e-3;
  unsigned long long reasons = 0;
  if (nvml.call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &reasons)) {
    constexpr std::pair<unsigned long long, const char*> kReasons[] = {{0x02, "clocks set by the administrator"},
                                                                       {0x04, "power"},
                                                                       {0x20, "temperature"},
                                                                       {0x40, "temperature (hardware)"},
                                                                       {0x80, "power brake"}};
    for (const auto& [bit, text] : kReasons) {
      if ((reasons & bit) != 0) state.throttle.emplace_back(text);
    }
  }
  return state;
}

std::string gpu_driver_version() {
  const Nvml nvml;
  std::array<char, kVersionBytes> version{};
  if (!nvml.call("nvmlSystemGetDriverVersion", version.data(), kVersionBytes)) return "";
  return version.data();
}

}  // namespace convlab
