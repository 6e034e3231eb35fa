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

// Several workers read and set entries of a range's map; the order does not matter.
inline bool is_initialised(const uint8_t* word) { return __atomic_load_n(word, __ATOMIC_RELAXED) != 0; }
inline void set_initialised(uint8_t* word) { __atomic_store_n(word, uint8_t{1}, __ATOMIC_RELAXED); }

/// Returns the array or variable that a kernel may access there. Its `bytes` are 0 if there is none: then `wrong` is
/// the fault.
SiteEntry accessible_memory(const Grid& grid, uintptr_t address, size_t bytes, bool writes, FaultKind& wrong);

}  // namespace convlab::simt::internal
