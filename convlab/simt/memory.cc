// Keeps the registry of device memory: allocations, registered ranges, released arrays, and shadow cells of variables.

#include "convlab/simt/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>

#include "convlab/base/error.h"
#include "convlab/simt/counting.h"
#include "convlab/simt/global_shadow.h"
#include "convlab/simt/host_access.h"
#include "convlab/simt/last_writer.h"
#include "convlab/simt/recorder.h"

namespace convlab::simt {
namespace {

using internal::Range;
using internal::Ranges;

constexpr size_t kAlignment = 256;
constexpr size_t kGuardBytes = 512;  // a multiple of kAlignment
// More than any device has. With overcommit the system might grant such a request, so we check the size ourselves.
constexpr size_t kMaxBytes = size_t{1} << 39;

uintptr_t address_of(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

// Host memory of one allocate() call, guards included.
struct Block {
  uintptr_t base = 0;
  size_t bytes = 0;

  bool holds(uintptr_t address) const { return address - base < bytes; }
};

// All ranges that kernels may access. The vector is immutable; a change replaces it.
class Registry {
 public:
  static Registry& instance() {
    static Registry& registry = *new Registry;  // never destroyed: static objects may still release memory at exit
    return registry;
  }

  std::shared_ptr<const Ranges> ranges() {
    std::lock_guard lock(mutex_);
    return ranges_;
  }

  void add(Range range) {
    change([&](Ranges& ranges) {
      auto at = std::upper_bound(ranges.begin(), ranges.end(), range.base,
                                 [](uintptr_t base, const auto& r) { return base < r->base; });
      ranges.insert(at, std::make_shared<const Range>(std::move(range)));
    });
  }

  void add_once(Range range) {
    const auto now = ranges();
    const Range* near = internal::nearest_range(*now, range.base);
    if (!near || near->base != range.base) add(std::move(range));
  }

  void remove(uintptr_t owner, std::string_view how = "", const SourcePlace& place = {}) {
    change([&](Ranges& ranges) {
      auto at = std::find_if(ranges.begin(), ranges.end(), [&](const auto& r) { return r->owner == owner; });
      if (at == ranges.end()) return;
      if (!how.empty()) {
        const Range& range = **at;
        released_.push_back({range.base, range.bytes, range.name, std::string(how), place, range.allocated});
      }
      if (released_.size() > kMostReleased) released_.pop_front();
      ranges.erase(at);
    });
  }

  std::optional<internal::Released> released_at(uintptr_t address) {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(released_.rbegin(), released_.rend(),
                                    [&](const auto& each) { return address - each.base < each.bytes; });
    return found == released_.rend() ? std::nullopt : std::optional(*found);
  }

  void narrow(uintptr_t address, size_t bytes, std::string_view name, RangeAccess access) {
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

  void add_block(Block block) {
    std::lock_guard lock(mutex_);
    blocks_[block.base] = block;
    // Released arrays that overlap the new block are forgotten: their memory now belongs to this block and its guards.
    std::erase_if(released_, [&](const internal::Released& each) {
      return each.base < block.base + block.bytes && block.base < each.base + each.bytes;
    });
  }

  void remove_block(uintptr_t base) {
    std::lock_guard lock(mutex_);
    blocks_.erase(base);
  }

  bool has_block(uintptr_t address) {
    std::lock_guard lock(mutex_);
    const auto above = blocks_.upper_bound(address);
    return above != blocks_.begin() && std::prev(above)->second.holds(address);
  }

  uint64_t take_block_serials(uint64_t count) {
    std::lock_guard lock(mutex_);
    if (count > (uint64_t{1} << internal::record::kSerialBits) - next_serial_) {
      // Serial numbers start again. Records of earlier launches must not be mistaken for those of later ones.
      for (const auto& range : *ranges_) {
        if (range->cells) internal::forget(range->cells.get(), range->bytes);
      }
      for (const auto& [base, variable] : variables_) internal::forget(variable.cells.get(), variable.bytes);
      next_serial_ = 1;
    }
    return std::exchange(next_serial_, next_serial_ + count);
  }

  internal::GlobalCell* cells_of_variable(uintptr_t base, size_t bytes) {
    std::lock_guard lock(mutex_);
    Variable& variable = variables_[base];
    if (!variable.cells) variable = {bytes, internal::make_global_cells(bytes + base % 4)};
    return variable.cells.get();
  }

 private:
  template <class Change>
  void change(Change&& change) {
    std::lock_guard lock(mutex_);
    auto ranges = std::make_shared<Ranges>(*ranges_);
    change(*ranges);
    ranges_ = std::move(ranges);
    internal::memory_version.fetch_add(1, std::memory_order_release);
  }

  struct Variable {
    size_t bytes = 0;
    std::shared_ptr<internal::GlobalCell[]> cells;
  };

  static constexpr size_t kMostReleased = 1024;

  std::mutex mutex_;
  std::deque<internal::Released> released_;  // oldest first
  std::map<uintptr_t, Variable> variables_;  // by start address
  std::map<uintptr_t, Block> blocks_;        // by start address
  std::shared_ptr<const Ranges> ranges_ = std::make_shared<const Ranges>();
  uint64_t next_serial_ = 1;
};

const Range* tracked_range(const Ranges& ranges, const void* memory) {
  const Range* range = internal::range_at(ranges, address_of(memory));
  return range && range->initialized ? range : nullptr;
}

// Returns the map's entries for [memory, memory + bytes), clipped to the range.
std::pair<uint8_t*, size_t> map_part(const Range& range, const void* memory, size_t bytes) {
  const size_t begin = address_of(memory) - range.base;
  const size_t end = std::min(begin + bytes, range.bytes);
  return {range.initialized.get() + begin / 4, (end + 3) / 4 - begin / 4};
}

}  // namespace

namespace internal {

constinit std::atomic<uint64_t> memory_version{1};

bool is_in_device_block(uintptr_t address) { return Registry::instance().has_block(address); }
std::shared_ptr<const Ranges> current_ranges() { return Registry::instance().ranges(); }
GlobalCell* cells_of_variable(uintptr_t base, size_t bytes) {
  return Registry::instance().cells_of_variable(base, bytes);
}
uint64_t take_block_serials(uint64_t count) { return Registry::instance().take_block_serials(count); }

std::optional<Released> released_at(uintptr_t address) { return Registry::instance().released_at(address); }

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

}  // namespace internal

size_t host_bytes(size_t bytes) {
  const size_t words = bytes / 4 + 1;
  return bytes + 2 * kGuardBytes + words * (1 + sizeof(internal::GlobalCell));
}

void* allocate(size_t bytes, std::string_view name, const SourcePlace& place) {
  if (Recorder* const records = recorder()) return records->allocate(bytes, name);
  if (bytes > kMaxBytes) throw unavailable("simt: cannot allocate {} bytes for '{}'", bytes, name);
  const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  char* block = static_cast<char*>(std::aligned_alloc(kAlignment, rounded + 2 * kGuardBytes));
  uint8_t* map = static_cast<uint8_t*>(std::calloc(rounded / 4 + 1, 1));
  if (!block || !map) {
    std::free(block);
    std::free(map);
    throw unavailable("simt: cannot allocate {} bytes for '{}'", bytes, name);
  }
  Range range;
  range.initialized = std::shared_ptr<uint8_t[]>(map, [](uint8_t* p) { std::free(p); });
  std::unique_ptr<char, decltype(&std::free)> owned(block, &std::free);
  range.cells = internal::make_global_cells(rounded);
  std::memset(block, 0xff, rounded + 2 * kGuardBytes);
  range.base = range.owner = address_of(block) + kGuardBytes;
  range.bytes = bytes;
  range.name = name;
  range.allocated = place;
  Registry::instance().add(std::move(range));
  Registry::instance().add_block({address_of(block), rounded + 2 * kGuardBytes});
  return owned.release() + kGuardBytes;
}

void release(void* memory, std::string_view how, const SourcePlace& place) {
  if (!memory) return;
  if (Recorder* const records = recorder()) return records->release(memory);
  Registry::instance().remove(address_of(memory), how, place);
  Registry::instance().remove_block(address_of(memory) - kGuardBytes);
  std::free(static_cast<char*>(memory) - kGuardBytes);
}

void narrow(const void* memory, size_t bytes, std::string_view name, RangeAccess access) {
  Registry::instance().narrow(address_of(memory), bytes, name, access);
}

std::optional<Label> allocation_label(const std::string& name, size_t bytes, const SourcePlace& place) {
  if (place.line == 0) return std::nullopt;
  return Label{.place = place,
               .text = fmt::format("cudaMalloc allocates {} here, {} bytes", name.empty() ? "it" : name, bytes),
               .subject = "cudaMalloc"};
}

void mark_initialised(const void* memory, size_t bytes) {
  if (bytes == 0) return;
  const auto ranges = internal::current_ranges();
  if (const Range* range = tracked_range(*ranges, memory)) {
    const auto [map, count] = map_part(*range, memory, bytes);
    std::memset(map, 1, count);
  }
}

void copy_to_device(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (Recorder* const records = recorder()) return records->copy_to_device(to, from, bytes);
  std::memcpy(to, from, bytes);
  mark_initialised(to, bytes);
  internal::remember_host_write(to, bytes);
}

void copy_to_host(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (Recorder* const records = recorder()) return records->copy_to_host(to, from, bytes);
  std::memcpy(to, from, bytes);
  internal::remember_copy(to, from, bytes);
}

void copy_on_device(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  if (Recorder* const records = recorder()) return records->copy_on_device(to, from, bytes);
  std::memmove(to, from, bytes);
  const auto ranges = internal::current_ranges();
  const Range* source = tracked_range(*ranges, from);
  const Range* target = tracked_range(*ranges, to);
  if (!target) return;
  // The maps have one byte per 4 bytes of memory. A copy between different alignments counts as initialized.
  if (!source || (address_of(from) - address_of(to)) % 4 != 0) return mark_initialised(to, bytes);
  const auto [from_map, from_count] = map_part(*source, from, bytes);
  const auto [to_map, to_count] = map_part(*target, to, bytes);
  std::memmove(to_map, from_map, std::min(from_count, to_count));
}

void fill_on_device(void* memory, int byte, size_t bytes) {
  internal::keep_fill(bytes);
  if (bytes == 0) return;
  if (Recorder* const records = recorder()) return records->fill(memory, byte, bytes);
  std::memset(memory, byte, bytes);
  mark_initialised(memory, bytes);
  internal::remember_host_write(memory, bytes);
}

RegisteredRange::RegisteredRange(const void* memory, size_t bytes, std::string_view name, RangeAccess access)
    : base_(memory) {
  Range range;
  range.base = range.owner = address_of(memory);
  range.bytes = bytes;
  range.writable = access == RangeAccess::read_write;
  if (range.writable && range.base % 4 == 0) range.cells = internal::make_global_cells(bytes);
  range.name = name;
  Registry::instance().add(std::move(range));
}

RegisteredRange::~RegisteredRange() {
  if (base_) Registry::instance().remove(address_of(base_));
}

void copy_to_symbol(void* symbol, size_t symbol_bytes, const void* from, size_t bytes, size_t offset,
                    RangeAccess access) {
  if (offset > symbol_bytes || bytes > symbol_bytes - offset) {
    throw bad_input("a copy of {} bytes to offset {} does not fit in a variable of {} bytes", bytes, offset,
                    symbol_bytes);
  }
  if (Recorder* const records = recorder()) return records->copy_to_symbol(symbol, from, bytes, offset, access);
  if (bytes > 0) std::memcpy(static_cast<char*>(symbol) + offset, from, bytes);
  if (access == RangeAccess::read_write) return;
  Range range;  // without a name: reports take the name from the program's symbols
  range.base = range.owner = address_of(symbol);
  range.bytes = symbol_bytes;
  range.writable = false;
  Registry::instance().add_once(std::move(range));
}

}  // namespace convlab::simt
