#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"

/// The registry of the memory that kernels may access. All functions are thread-safe. memory.h has the public ones.
namespace convlab::simt {

enum class RangeAccess { read_only, read_write };

namespace internal {

struct GlobalCell;

/// One range that kernels may access.
struct Range {
  uintptr_t base = 0;
  size_t bytes = 0;
  uintptr_t owner = 0;  ///< the address passed to release() or ~RegisteredRange; differs from `base` after narrow()
  bool writable = true;
  std::shared_ptr<uint8_t[]> initialized;  ///< see initialized_bytes.h; nullptr: all are initialized
  std::shared_ptr<GlobalCell[]> cells;     ///< one cell per 4 bytes of memory; nullptr: nothing writes to it
  std::string name;
  SourcePlace allocated = {};  ///< the line of its cudaMalloc(); without a line if it has none
};

using Ranges = std::vector<std::shared_ptr<const Range>>;

/// Changes whenever device memory is allocated or released, or host memory comes into or out of use by the device.
extern constinit std::atomic<uint64_t> memory_version;

void add_range(Range range);

/// Adds the range unless there is one with its base address.
void add_range_once(Range range);

/// Removes the range of this owner. If `how` is not empty, it is remembered as released in this way.
void remove_range(uintptr_t owner, std::string_view how = "", const SourcePlace& place = {});

/// See simt::narrow().
void narrow_range(uintptr_t address, size_t bytes, std::string_view name, RangeAccess access);

/// The host memory of an allocation, including its guards.
void add_device_block(uintptr_t base, size_t bytes);
void remove_device_block(uintptr_t base);
bool is_in_device_block(uintptr_t address);

/// Returns the first of `count` serial numbers that no shadow cell contains, for the blocks of a launch.
uint64_t take_block_serials(uint64_t count);

/// Returns the shadow cells of a __device__ variable. They are created on first use and never freed.
GlobalCell* cells_of_variable(uintptr_t base, size_t bytes);

/// Returns all ranges, sorted by base address.
std::shared_ptr<const Ranges> current_ranges();

/// An array that was released.
struct Released {
  uintptr_t base = 0;
  size_t bytes = 0;
  std::string name, how;
  SourcePlace place = {}, allocated = {};
};

/// Returns the array, among the last 1024 released ones, that contained `address`, unless another array is there now.
std::optional<Released> released_at(uintptr_t address);

/// Returns the range that contains `address`, otherwise the nearest one below or above; nullptr if there are no ranges.
const Range* nearest_range(const Ranges& ranges, uintptr_t address);

/// Returns the range that contains `address`, or nullptr.
const Range* range_at(const Ranges& ranges, uintptr_t address);

}  // namespace internal
}  // namespace convlab::simt
