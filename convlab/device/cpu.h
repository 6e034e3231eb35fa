#pragma once

#include <memory>

#include "convlab/device/device.h"

namespace convlab {

/// Opens the host as a device: memory is host memory, and a stream runs its work synchronously on the calling thread
/// and its thread pool.
std::unique_ptr<Device> open_cpu(const DeviceOptions& options);

/// Returns the CPU's model name, "Intel(R) Xeon(R) ...", or its architecture.
std::string cpu_name();

}  // namespace convlab
