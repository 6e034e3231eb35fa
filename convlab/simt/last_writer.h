#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "convlab/simt/fault.h"

/// Who wrote an element: what launches remember of global memory to find races, kept beyond their ends.
namespace convlab::simt {

struct LastWriter {
  std::string kernel;      ///< "": some kernel wrote it, and we do not know which
  Position block, thread;  ///< of several threads of the block that wrote it, the first
  SourcePlace place;       ///< of the store
};

/// Who wrote the 4 bytes last that are now at this address of the host, after a copy from device memory: nullopt if no
/// kernel did since the host filled them. The last launches and copies are known, a thousand and some of each.
std::optional<LastWriter> last_writer(const void* host);

/// Whether the bytes at this address came from device memory, as far as we know.
bool came_from_device(const void* host);

namespace internal {

struct Grid;

/// After a launch.
void remember_launch(Grid& grid);

/// The host copied device memory to its own, or wrote to device memory.
void remember_copy(void* host, const void* device, size_t bytes);
void remember_host_write(const void* device, size_t bytes);

/// These bytes of the host are another array from now on.
void forget_copies(const void* host, size_t bytes);

}  // namespace internal
}  // namespace convlab::simt
