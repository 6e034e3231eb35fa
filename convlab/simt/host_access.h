#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "convlab/simt/fault.h"
#include "convlab/simt/shadow.h"
#include "convlab/simt/symbols.h"
#include "convlab/simt/where.h"

/// What a GPU's memory management unit does: host code cannot touch the device's memory, nor a kernel the host's.
namespace convlab::simt::internal {

/// An access by the host code of a kernel file. If it touches the device's memory, take_host_faults() has it: the code
/// goes on, since nothing can end it here.
void on_host_access(uintptr_t address, size_t bytes, AccessKind kind, const void* code);

/// See watch_host_code().
bool is_watched(const Module& module);

/// Whether the address is in a __device__ or __constant__ variable of a watched file.
bool is_in_device_variable(uintptr_t address);

/// Keeps a fault of host code; of one place, the first.
void keep_host_fault(Fault fault);

/// "element 0 of the host's stack, to which argument 2 of the kernel points": what a kernel has touched that is not the
/// device's. "" if it is device memory, was until it was given back, or if we cannot tell.
std::string describe_host_memory(const struct Grid& grid, uintptr_t address, int access_bytes);

// ---- memory.cc ----

/// Changes whenever memory of the device comes or goes.
extern constinit std::atomic<uint64_t> memory_version;

/// Whether the address is in what allocate() gave, with the guards around it.
bool is_in_device_block(uintptr_t address);

}  // namespace convlab::simt::internal
