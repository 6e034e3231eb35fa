#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "convlab/device/device.h"

namespace convlab {

/// CUDA's execution model on the host (convlab/simt): slow, and strict. Blocks run on options.threads host threads.
/// Error(unavailable) in a build without it.
std::unique_ptr<Device> open_simt(const DeviceOptions& options);

/// Whether this build can open it.
bool simt_present();

/// How to get a build that can; "" where this one is.
std::string_view how_to_get_simt();

// What else simt can be told. No effect in a build without it.

/// From now on kernels may touch only these bytes of a buffer of simt's: an array between guards. Faults say `name`.
void narrow_simt_memory(const void* memory, size_t bytes, std::string_view name, bool writable);

/// How long a kernel may run without progress before that is a fault: see simt::set_stuck_after().
void set_simt_stuck_after(double seconds);

}  // namespace convlab
