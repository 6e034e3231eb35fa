#pragma once

#include <cstdint>

/// NVML, which asks the driver about GPUs. There is no driver here: nvmlInit() returns NVML_ERROR_LIBRARY_NOT_FOUND,
/// and every other call NVML_ERROR_UNINITIALIZED, as without a driver on a machine with the library.
namespace convlab::simt::cuda {

enum nvmlReturn_t {
  NVML_SUCCESS = 0,
  NVML_ERROR_UNINITIALIZED = 1,
  NVML_ERROR_INVALID_ARGUMENT = 2,
  NVML_ERROR_NOT_SUPPORTED = 3,
  NVML_ERROR_NO_PERMISSION = 4,
  NVML_ERROR_NOT_FOUND = 6,
  NVML_ERROR_INSUFFICIENT_SIZE = 7,
  NVML_ERROR_DRIVER_NOT_LOADED = 9,
  NVML_ERROR_TIMEOUT = 10,
  NVML_ERROR_LIBRARY_NOT_FOUND = 12,
  NVML_ERROR_UNKNOWN = 999,
};
struct nvmlDevice_st;
using nvmlDevice_t = nvmlDevice_st*;

enum nvmlClockType_t { NVML_CLOCK_GRAPHICS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_CLOCK_VIDEO = 3 };
enum nvmlTemperatureSensors_t { NVML_TEMPERATURE_GPU = 0 };
enum nvmlTemperatureThresholds_t {
  NVML_TEMPERATURE_THRESHOLD_SHUTDOWN = 0,
  NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1,
  NVML_TEMPERATURE_THRESHOLD_MEM_MAX = 2,
  NVML_TEMPERATURE_THRESHOLD_GPU_MAX = 3,
};
enum nvmlSamplingType_t {
  NVML_TOTAL_POWER_SAMPLES = 0,
  NVML_GPU_UTILIZATION_SAMPLES = 1,
  NVML_MEMORY_UTILIZATION_SAMPLES = 2,
};
enum nvmlValueType_t {
  NVML_VALUE_TYPE_DOUBLE = 0,
  NVML_VALUE_TYPE_UNSIGNED_INT = 1,
  NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
  NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
};
union nvmlValue_t {
  double dVal;
  unsigned uiVal;
  unsigned long ulVal;
  unsigned long long ullVal;
};
struct nvmlSample_t {
  unsigned long long timeStamp;
  nvmlValue_t sampleValue;
};
struct nvmlMemory_t {
  unsigned long long total, free, used;
};
struct nvmlUtilization_t {
  unsigned gpu, memory;
};
inline constexpr unsigned long long nvmlClocksThrottleReasonGpuIdle = 0x1, nvmlClocksThrottleReasonSwPowerCap = 0x4,
                                    nvmlClocksThrottleReasonHwSlowdown = 0x8,
                                    nvmlClocksThrottleReasonSwThermalSlowdown = 0x20,
                                    nvmlClocksThrottleReasonHwThermalSlowdown = 0x40,
                                    nvmlClocksThrottleReasonHwPowerBrakeSlowdown = 0x80,
                                    nvmlClocksThrottleReasonAll = 0x1ff;

inline nvmlReturn_t nvmlInit() { return NVML_ERROR_LIBRARY_NOT_FOUND; }
inline nvmlReturn_t nvmlInit_v2() { return NVML_ERROR_LIBRARY_NOT_FOUND; }
inline const char* nvmlErrorString(nvmlReturn_t result) {
  return result == NVML_SUCCESS                   ? "The operation was successful"
         : result == NVML_ERROR_LIBRARY_NOT_FOUND ? "NVML Shared Library couldn't be found or loaded"
                                                  : "NVML was not first initialized with nvmlInit()";
}

#define CONVLAB_SIMT_NVML(function)     \
  template <class... Arguments>         \
  nvmlReturn_t function(Arguments...) { \
    return NVML_ERROR_UNINITIALIZED;    \
  }
CONVLAB_SIMT_NVML(nvmlShutdown)
CONVLAB_SIMT_NVML(nvmlDeviceGetCount)
CONVLAB_SIMT_NVML(nvmlDeviceGetCount_v2)
CONVLAB_SIMT_NVML(nvmlDeviceGetHandleByIndex)
CONVLAB_SIMT_NVML(nvmlDeviceGetHandleByIndex_v2)
CONVLAB_SIMT_NVML(nvmlDeviceGetName)
CONVLAB_SIMT_NVML(nvmlDeviceGetClockInfo)
CONVLAB_SIMT_NVML(nvmlDeviceGetMaxClockInfo)
CONVLAB_SIMT_NVML(nvmlDeviceGetCurrentClocksThrottleReasons)
CONVLAB_SIMT_NVML(nvmlDeviceGetFanSpeed)
CONVLAB_SIMT_NVML(nvmlDeviceGetMemoryInfo)
CONVLAB_SIMT_NVML(nvmlDeviceGetPowerManagementLimit)
CONVLAB_SIMT_NVML(nvmlDeviceGetPowerUsage)
CONVLAB_SIMT_NVML(nvmlDeviceGetTotalEnergyConsumption)
CONVLAB_SIMT_NVML(nvmlDeviceGetSamples)
CONVLAB_SIMT_NVML(nvmlDeviceGetTemperature)
CONVLAB_SIMT_NVML(nvmlDeviceGetTemperatureThreshold)
CONVLAB_SIMT_NVML(nvmlDeviceGetUtilizationRates)
#undef CONVLAB_SIMT_NVML

}  // namespace convlab::simt::cuda
