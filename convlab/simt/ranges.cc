// Keeps the registry of device memory: allocations, registered ranges, released arrays, and shadow cells of variables.

#include "convlab/simt/ranges.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "convlab/simt/global_shadow.h"

namespace convlab::simt::internal {

constinit std::atomic<uint64_t> memory_version{1};

namespace {

constexpr size_t kMostReleased = 1024;

// Host memory of one allocate() call, guards included.
struct Block {
  uintptr_t base = 0;
  size_t bytes = 0;

  bool holds(uintptr_t address) const { return address - base < bytes; }
};

struct Variable {
  size_t bytes = 0;
  std::shared_ptr<GlobalCell[]> cells;
};

struct State {
  std::mutex mutex;
  std::shared_ptr<const Ranges> ranges = std::make_shared<const Ranges>();  // immutable; a change replaces it
  std::deque<Released> released;                                            // oldest first
  std::map<uintptr_t, Variable> variables;                                  // by start address
  std::map<uintptr_t, Block> blocks;                                        // by start address
  uint64_t next_serial = 1;
};

State& state() {
  static State& one = *new State;  // never destroyed: static objects may still release memory at exit
  return one;
}

template <class Change>
void change(Change&& change) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  auto ranges = std::make_shared<Ranges>(*s.ranges);
  change(*ranges);
  s.ranges = std::move(ranges);
  memory_version.fetch_add(1, std::memory_order_release);
}

}  // namespace

std::shared_ptr<const Ranges> current_ranges() {
  std::lock_guard lock(state().mutex);
  return state().ranges;
}

void add_range(Range range) {
  change([&](Ranges& ranges) {
    auto at = std::upper_bound(ranges.begin(), ranges.end(), range.base,
                               [](uintptr_t base, const auto& r) { return base < r->base; });
    ranges.insert(at, std::make_shared<const Range>(std::move(range)));
  });
}

void add_range_once(Range range) {
  const auto now = current_ranges();
  const Range* near = nearest_range(*now, range.base);
  if (!near || near->base != range.base) add_range(std::move(range));
}

void remove_range(uintptr_t owner, std::string_view how, const SourcePlace& place) {
  change([&](Ranges& ranges) {
    auto at = std::find_if(ranges.begin(), ranges.end(), [&](const auto& r) { return r->owner == owner; });
    if (at == ranges.end()) return;
    std::deque<Released>& released = state().released;
    if (!how.empty()) {
      const Range& range = **at;
      released.push_back({range.base, range.bytes, range.name, std::string(how), place, range.allocated});
    }
    if (released.size() > kMostReleased) released.pop_front();
    ranges.erase(at);
  });
}

void narrow_range(uintptr_t address, size_t bytes, std::string_view name, RangeAccess access) {
  change([&](Ranges& ranges) {
    for (auto& range : ranges) {
      const size_t offset = address - range->base;
      if (offset >= range->bytes || bytes > range->bytes - offset) continue;
      auto part = std::make_shared<Range>(*range);
      part->base = address;
      part->bytes = bytes;
      part->name = name;
      part->writable = access == RangeAccess::read_write;
      if (range->initialized) part->initialized = {range->initialized, range->initialized.get() + offset / 4};
      part->cells = {range->cells, part->writable && range->cells ? range->cells.get() + offset / 4 : nullptr};
      range = std::move(part);
    }
  });
}

void add_device_block(uintptr_t base, size_t bytes) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  s.blocks[base] = {base, bytes};
  // Released arrays that overlap the new block are forgotten: their memory now belongs to this block and its guards.
  std::erase_if(s.released,
                [&](const Released& each) { return each.base < base + bytes && base < each.base + each.bytes; });
}

void remove_device_block(uintptr_t base) {
  std::lock_guard lock(state().mutex);
  state().blocks.erase(base);
}

bool is_in_device_block(uintptr_t address) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  const auto above = s.blocks.upper_bound(address);
  return above != s.blocks.begin() && std::prev(above)->second.holds(address);
}

uint64_t take_block_serials(uint64_t count) {
  State& s = state();
  std::lock_guard lock(s.mutex);
  if (count > (uint64_t{1} << record::kSerialBits) - s.next_serial) {
    // Serial numbers start again. Records of earlier launches must not be mistaken for those of later ones.
    for (const auto& range : *s.ranges) {
      if (range->cells) forget(range->cells.get(), range->bytes);
    }
    for (const auto& [base, variable] : s.variables) forget(variable.cells.get(), variable.bytes);
    s.next_serial = 1;
  }
  return std::exchange(s.next_serial, s.next_serial + count);
}

GlobalCell* cells_of_variable(uintptr_t base, size_t bytes) {
  std::lock_guard lock(state().mutex);
  Variable& variable = state().variables[base];
  if (!variable.cells) variable = {bytes, make_global_cells(bytes + base % 4)};
  return variable.cells.get();
}

std::optional<Released> released_at(uintptr_t address) {
  const std::deque<Released>& released = state().released;
  std::lock_guard lock(state().mutex);
  const auto found = std::find_if(released.rbegin(), released.rend(),
                                  [&](const auto& each) { return address - each.base < each.bytes; });
  return found == released.rend() ? std::nullopt : std::optional(*found);
}

const Range* nearest_range(const Ranges& ranges, uintptr_t address) {
  auto above = std::upper_bound(ranges.begin(), ranges.end(), address,
                                [](uintptr_t a, const auto& range) { return a < range->base; });
  const Range* after = above == ranges.end() ? nullptr : above->get();
  const Range* before = above == ranges.begin() ? nullptr : std::prev(above)->get();
  if (!before) return after;
  if (address - before->base < before->bytes || !after) return before;
  return address - (before->base + before->bytes) <= after->base - address ? before : after;
}

const Range* range_at(const Ranges& ranges, uintptr_t address) {
  const Range* const range = nearest_range(ranges, address);
  return range && address - range->base < range->bytes ? range : nullptr;
}

}  // namespace convlab::simt::internal
