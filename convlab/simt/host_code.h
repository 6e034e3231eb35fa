#pragma once

namespace convlab::simt {

/// From now on host and device are kept apart in the program or library that holds this address, as on a GPU: its host
/// code must not touch the device's memory, nor its kernels variables of the host. Its `__device__` variables must be
/// in sections of their own, called convlab_device_NAME. Returns true.
bool watch_host_code(const void* inside) noexcept;

}  // namespace convlab::simt
