#include "convlab/measure/gpu_state.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nvml.h>

#include <array>
#include <utility>

namespace convlab {
namespace {

/// NVML comes with the driver, not with the toolkit, so it is loaded when it is wanted.
class Nvml {
 public:
  Nvml() {
    library_ = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    const auto init = function<nvmlReturn_t (*)()>("nvmlInit_v2");
    ready_ = init != nullptr && init() == NVML_SUCCESS;
  }
  ~Nvml() {
    if (const auto shutdown = ready_ ? function<nvmlReturn_t (*)()>("nvmlShutdown") : nullptr) shutdown();
    if (library_ != nullptr) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Calls a function of NVML; false where it is not there or fails.
  template <class... Parameters, class... Arguments>
  bool call(const char* name, nvmlReturn_t (*)(Parameters...), Arguments... arguments) const {
    const auto found = ready_ ? function<nvmlReturn_t (*)(Parameters...)>(name) : nullptr;
    return found != nullptr && found(arguments...) == NVML_SUCCESS;
  }

 private:
  template <class Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }

  void* library_ = nullptr;
  bool ready_ = false;
};

#define CONVLAB_NVML(nvml, function, ...) \
  (nvml).call(#function, static_cast<decltype(&(function))>(nullptr), __VA_ARGS__)

bool find_device(const Nvml& nvml, nvmlDevice_t& device) {
  int index = 0;
  std::array<char, 32> bus{};
  return cudaGetDevice(&index) == cudaSuccess &&
         cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), index) == cudaSuccess &&
         CONVLAB_NVML(nvml, nvmlDeviceGetHandleByPciBusId_v2, bus.data(), &device);
}

}  // namespace

MachineState gpu_state() {
  const Nvml nvml;
  nvmlDevice_t device{};
  if (!find_device(nvml, device)) return {};
  MachineState state;
  unsigned value = 0;
  if (CONVLAB_NVML(nvml, nvmlDeviceGetClockInfo, device, NVML_CLOCK_SM, &value)) state.clock_mhz = value;
  if (CONVLAB_NVML(nvml, nvmlDeviceGetClockInfo, device, NVML_CLOCK_MEM, &value)) state.memory_clock_mhz = value;
  if (CONVLAB_NVML(nvml, nvmlDeviceGetTemperature, device, NVML_TEMPERATURE_GPU, &value)) state.temperature_c = value;
  if (CONVLAB_NVML(nvml, nvmlDeviceGetPowerUsage, device, &value)) state.power_w = value * 1e-3;
  unsigned long long reasons = 0;
  if (CONVLAB_NVML(nvml, nvmlDeviceGetCurrentClocksThrottleReasons, device, &reasons)) {
    constexpr std::pair<unsigned long long, const char*> kReasons[] = {
        {nvmlClocksThrottleReasonSwPowerCap, "power"},
        {nvmlClocksThrottleReasonHwPowerBrakeSlowdown, "power brake"},
        {nvmlClocksThrottleReasonSwThermalSlowdown, "temperature"},
        {nvmlClocksThrottleReasonHwThermalSlowdown, "temperature (hardware)"},
        {nvmlClocksThrottleReasonApplicationsClocksSetting, "clocks set by the administrator"}};
    for (const auto& [bit, text] : kReasons) {
      if ((reasons & bit) != 0) state.throttle.emplace_back(text);
    }
  }
  return state;
}

std::string gpu_driver_version() {
  const Nvml nvml;
  std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> version{};
  if (!CONVLAB_NVML(nvml, nvmlSystemGetDriverVersion, version.data(), static_cast<unsigned>(version.size()))) return "";
  return version.data();
}

}  // namespace convlab
