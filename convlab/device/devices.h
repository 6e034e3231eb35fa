#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "convlab/device/device.h"

namespace convlab {

/// Stands for all GPUs in open_devices().
inline constexpr std::string_view kAllGpus = "cuda:all";

/// Throws Error(bad_input) if open_device() does not know this name.
void require_device_name(std::string_view name);

/// Opens "cpu", "cuda", "cuda:1", "simt", or "auto" (cuda if there is a usable GPU, otherwise cpu). Throws
/// Error(bad_input) for any other name, and Error(unavailable) with the reason if the device is not available.
std::unique_ptr<Device> open_device(std::string_view name, const DeviceOptions& options);

/// Opens one device, as open_device(), or all GPUs, by index, for kAllGpus. Throws Error(unavailable) if any of them
/// cannot be opened.
std::vector<std::unique_ptr<Device>> open_devices(std::string_view name, const DeviceOptions& options);

/// Returns every device that open_device() can open on this machine, for `convlab list devices`.
std::vector<DeviceListing> list_devices();

}  // namespace convlab
