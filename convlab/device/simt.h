#pragma once

#include <memory>

#include "convlab/device/device.h"

namespace convlab {

/// CUDA's execution model on the host (convlab/simt): slow, and strict. Blocks run on options.threads host threads.
/// Error(unavailable) in a build without it.
std::unique_ptr<Device> open_simt(const DeviceOptions& options);

/// Whether this build can open it.
bool simt_present();

}  // namespace convlab
