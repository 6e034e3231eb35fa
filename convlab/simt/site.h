#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/simt/fault.h"
#include "convlab/simt/grid.h"

namespace convlab::simt::internal {

/// Cache entry of an instruction: the range that it accessed last, which it nearly always accesses next.
struct SiteEntry {
  uintptr_t base = 0;
  size_t bytes = 0;
  uint8_t* initialized = nullptr;  ///< see Range::initialized
  GlobalCell* cells = nullptr;     ///< see Range::cells

  GlobalCell& cell(uintptr_t address) const { return cells[address / 4 - base / 4]; }
};

/// Returns the array or variable that a kernel may access there. Its `bytes` are 0 if there is none: then `wrong` is
/// the fault.
SiteEntry accessible_memory(const Grid& grid, uintptr_t address, size_t bytes, bool writes, FaultKind& wrong);

}  // namespace convlab::simt::internal
