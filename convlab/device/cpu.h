#pragma once

#include <memory>

#include "convlab/device/device.h"

namespace convlab {

/// The host as a device: memory is host memory, a stream runs its work at once on the calling thread and its pool.
std::unique_ptr<Device> open_cpu(const DeviceOptions& options);

/// "Intel(R) Xeon(R) ...": the processor's own name for itself, or its architecture.
std::string cpu_name();

}  // namespace convlab
