#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convlab/diagnostics/finding.h"

namespace convlab::simt {

/// Device memory of the host. A kernel may touch what is allocated or registered here, its own stack, its arguments and
/// the program's __constant__ and __device__ variables; anything else is reported as out of bounds. Several threads may
/// call all functions; a launch sees the memory that was there when it began.

/// The most host memory that allocate() may come to take: the bytes themselves, which of them are written, and, for
/// those touched, by whom.
size_t host_bytes(size_t bytes);

/// Memory aligned to 256 bytes with a guard zone on both sides, filled with 0xff bytes (NaN as a float). `name` appears
/// in reports. A kernel's read of bytes that neither a kernel nor the functions below wrote is reported; host code that
/// fills the memory itself must call mark_initialised. Error(unavailable) when there is not enough memory.
void* allocate(size_t bytes, std::string_view name);

/// Releases memory of allocate(); nullptr is allowed. A kernel's later access is then out of bounds. Reports say `how`,
/// "cudaFree releases it here", and show the line.
void release(void* memory, std::string_view how = "it was released", const SourcePlace& place = {});

enum class RangeAccess { read_only, read_write };

/// In the allocation that holds these bytes, kernels may from now on touch them and no others, under this name: an
/// array with guards around it. Addresses outside of all allocations are ignored.
void narrow(const void* memory, size_t bytes, std::string_view name, RangeAccess access);

/// The memory's bytes count as written from now on.
void mark_initialised(const void* memory, size_t bytes);

/// memcpy to and within device memory. A copy within it carries over which bytes were written.
void copy_to_device(void* to, const void* from, size_t bytes);
void copy_on_device(void* to, const void* from, size_t bytes);

/// memcpy to the host: see last_writer.h.
void copy_to_host(void* to, const void* from, size_t bytes);

/// memset of device memory.
void fill_on_device(void* memory, int byte, size_t bytes);

/// Host memory that kernels may touch while this value lives: a test's tensor, say. It counts as initialised.
class RegisteredRange {
 public:
  RegisteredRange() = default;
  RegisteredRange(const void* memory, size_t bytes, std::string_view name,
                  RangeAccess access = RangeAccess::read_write);
  RegisteredRange(RegisteredRange&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}
  RegisteredRange& operator=(RegisteredRange&& other) noexcept {
    std::swap(base_, other.base_);
    return *this;
  }
  ~RegisteredRange();

 private:
  const void* base_ = nullptr;
};

/// Copies into a variable, which the kernels of later launches read, and may write if it is __device__; `access` is
/// read_only for one that is __constant__. Error(bad_input) where offset + bytes exceeds the variable. `symbol_bytes`
/// is the variable's size.
void copy_to_symbol(void* symbol, size_t symbol_bytes, const void* from, size_t bytes, size_t offset,
                    RangeAccess access = RangeAccess::read_only);

namespace internal {

struct GlobalCell;

/// One range that kernels may touch.
struct Range {
  uintptr_t base = 0;
  size_t bytes = 0;
  uintptr_t owner = 0;  ///< the argument of release() or ~RegisteredRange: the range may have been narrowed since
  bool writable = true;
  std::shared_ptr<uint8_t[]> initialised;  ///< one byte for every 4 of memory, or nullptr: all of it is
  std::shared_ptr<GlobalCell[]> cells;     ///< one for every 4 bytes, or nullptr: nothing writes to it
  std::string name;
};

using Ranges = std::vector<std::shared_ptr<const Range>>;

/// The cells of a __device__ variable, made when first asked for and kept for the process's life.
GlobalCell* cells_of_variable(uintptr_t base, size_t bytes);

/// All ranges, sorted by base address.
std::shared_ptr<const Ranges> current_ranges();

/// An array that was given back.
struct Released {
  uintptr_t base = 0;
  size_t bytes = 0;
  std::string name, how;
  SourcePlace place = {};
};

/// The one that held `address`, of the last many, unless another array is there now.
std::optional<Released> released_at(uintptr_t address);

/// The range that holds `address`, otherwise the nearest one below or above (nullptr if there are none at all).
const Range* nearest_range(const Ranges& ranges, uintptr_t address);

/// The range that holds `address`; nullptr if none does.
const Range* range_at(const Ranges& ranges, uintptr_t address);

}  // namespace internal
}  // namespace convlab::simt
