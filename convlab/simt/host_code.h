#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::simt {

/// From now on, keeps host and device apart, as on a GPU, in the program or library that contains this address: its
/// host code must not access device memory, nor its kernels host variables. Its `__device__` variables must be in
/// sections named convlab_device_NAME. Returns true.
bool watch_host_code(const void* inside) noexcept;

namespace internal {

class Module;

/// Returns the modules for which watch_host_code() was called.
std::vector<const Module*> watched_modules();
bool is_watched(const Module& module);
bool is_any_watched();

/// A __device__ or __constant__ variable of a watched file.
struct DeviceVariable {
  std::string name;
  std::string_view memory;  ///< "__constant__" or "__device__"
  int64_t offset = 0;       ///< of an address in it
  size_t bytes = 0;         ///< 0 if unknown
  bool exposed = false;     ///< the host has its device address, see expose_device_variable()
};

/// Returns the variable at the address, if there is one.
std::optional<DeviceVariable> device_variable_at(uintptr_t address);

/// From now on the variable's address is a device address, which cudaGetSymbolAddress() returned. Without it, the
/// address in host code is that of the host's own variable.
void expose_device_variable(uintptr_t address);

/// Returns the variable of the module at the address, under the name "a variable" if it has no symbol.
DeviceVariable variable_at(const Module& module, uintptr_t address);

}  // namespace internal
}  // namespace convlab::simt
