#pragma once

namespace convlab::simt {

/// From now on, keeps host and device apart, as on a GPU, in the program or library that contains this address: its
/// host code must not access device memory, nor its kernels host variables. Its `__device__` variables must be in
/// sections named convlab_device_NAME. Returns true.
bool watch_host_code(const void* inside) noexcept;

}  // namespace convlab::simt
