#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "convlab/simt/fault.h"
#include "convlab/simt/shadow.h"
#include "convlab/simt/symbols.h"
#include "convlab/simt/where.h"

/// Separates host and device memory, like a GPU's MMU: host code must not access device memory, nor kernels host
/// memory.
namespace convlab::simt::internal {

/// Checks an access by the host code of a kernel file. If it touches device memory, take_host_faults() returns the
/// fault. The code continues, because nothing can end it here.
void on_host_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code);

/// Returns whether watch_host_code() was called for the module.
bool is_watched(const Module& module);

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

/// Returns whether a page of this process is at the address.
bool is_mapped(uintptr_t address);

/// Keeps a fault of host code. Of equal faults, keeps the first and counts the others.
void keep_host_fault(Fault fault);

/// Describes host memory that a kernel has accessed: "w[0], which is the host stack". Returns "" if the address is, or
/// was before its release, device memory, or if its kind is unknown.
std::string describe_host_memory(const struct Grid& grid, uintptr_t address, int access_bytes);

// ---- memory.cc ----

/// Changes whenever device memory is allocated or released, or host memory comes into or out of use by the device.
extern constinit std::atomic<uint64_t> memory_version;

/// Returns whether the address is in a block from allocate(), including its guards.
bool is_in_device_block(uintptr_t address);

}  // namespace convlab::simt::internal
