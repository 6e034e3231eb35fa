#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "convlab/simt/fault.h"

/// The provenance of elements: which kernel wrote them last, according to the shadow memory that launches leave behind.
namespace convlab::simt {

struct LastWriter {
  std::string kernel;      ///< "" if a kernel wrote it but is not known
  Position block, thread;  ///< of several threads of the block that wrote it, the first
  SourcePlace place;       ///< of the store
};

/// Returns which kernel wrote the 4 bytes last that are now at this host address, after a copy from device memory.
/// Returns nullopt if no kernel wrote them since the host filled them. Only the last 1024 launches, copies and host
/// writes are remembered.
std::optional<LastWriter> last_writer(const void* host);

/// Returns whether the bytes at this host address are known to come from device memory.
bool came_from_device(const void* host);

namespace internal {

struct Grid;

/// Called after each launch.
void remember_launch(Grid& grid);

/// Record that the host copied device memory to its own, or wrote to device memory.
void remember_copy(void* host, const void* device, size_t bytes);
void remember_host_write(const void* device, size_t bytes);

/// Forgets copies to these host bytes, because they now hold another array.
void forget_copies(const void* host, size_t bytes);

}  // namespace internal
}  // namespace convlab::simt
