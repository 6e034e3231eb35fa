#include "convlab/device/device.h"

#include "convlab/base/error.h"
#include "convlab/device/cpu.h"

namespace convlab {

std::string_view name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::simt:
      return "simt";
  }
  return "?";
}

std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options) {
  if (name == "cpu" || name == "auto") return open_cpu(options);
  if (name == "cuda" || name.starts_with("cuda:")) {
    throw unavailable("--device {}: this build has no CUDA support; use --device cpu", name);
  }
  if (name == "simt") throw unavailable("--device simt: this build has no CUDA kernels; use --device cpu");
  throw bad_input("--device {}: no such device; use auto, cpu, cuda, cuda:N or simt", name);
}

std::vector<DeviceListing> list_devices() { return {{"cpu", open_cpu({})->caps().description}}; }

}  // namespace convlab
