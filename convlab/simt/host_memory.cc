// Says what the host memory is that a kernel has accessed.

#include "convlab/simt/host_memory.h"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <vector>

#include "convlab/base/symbol.h"
#include "convlab/simt/element.h"
#include "convlab/simt/host_arrays.h"
#include "convlab/simt/target.h"

namespace convlab::simt::internal {
namespace {

/// Returns the mapping at an address from /proc/self/maps: "[stack]", a file's path, or "" for anonymous memory;
/// nullopt if nothing is mapped there.
std::optional<std::string> mapping_at(uintptr_t address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    unsigned long begin = 0, end = 0;
    int path = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %*s %*s %*s %*s %n", &begin, &end, &path) < 2) continue;
    if (address - begin < end - begin) return path > 0 ? line.substr(static_cast<size_t>(path)) : "";
  }
  return std::nullopt;
}

/// The kernel's pointer argument with the largest value up to an address: its number, from 1, and its value.
struct PointerArgument {
  size_t number = 0;
  uintptr_t value = 0;
};

PointerArgument argument_before(const Grid& grid, uintptr_t address) {
  constexpr uintptr_t kFar = uintptr_t{1} << 32, kLeast = 4096;
  PointerArgument best;
  for_each_word(grid.call, [&](size_t argument, uintptr_t value) {
    if (value >= kLeast && value <= address && address - value < kFar && value > best.value)
      best = {argument + 1, value};
  });
  return best;
}

}  // namespace

bool is_mapped(uintptr_t address) { return mapping_at(address).has_value(); }

std::string describe_host_memory(const Grid& grid, uintptr_t address, int access_bytes) {
  const PointerArgument argument = argument_before(grid, address);
  const uintptr_t base = argument.number > 0 ? argument.value : address;
  const Range* const range = nearest_range(*grid.ranges, base);
  const bool is_end = range && base - range->base <= range->bytes;  // page-locked or managed memory, overrun
  const bool was_released = released_at(base) && host_room(reinterpret_cast<const void*>(base)) == SIZE_MAX;
  if (is_end || is_in_device_block(base) || was_released) return "";
  const std::optional<std::string> mapping = mapping_at(base);
  // Without a pointer argument as evidence, heap memory may also be an access before an array's start.
  if (!mapping || (argument.number == 0 && *mapping != "[stack]")) return "";
  std::string what = "host memory (malloc or new)";
  if (*mapping == "[stack]") what = "the host stack";
  if (const Symbol* symbol = grid.module->object_at(base)) {
    what = fmt::format("host variable '{}'", short_symbol(symbol->mangled));
  } else if (mapping->starts_with('/')) {
    what = "host memory of " + *mapping;
  }
  if (argument.number == 0) return what;
  const std::vector<std::string> names = parameters_of(grid);
  const int64_t index = element_index(static_cast<int64_t>(address - base), access_bytes);
  if (names.empty()) return fmt::format("element {} of {} (argument {} of the kernel)", index, what, argument.number);
  return fmt::format("{}[{}], which is {}", names[argument.number - 1], index, what);
}

}  // namespace convlab::simt::internal
