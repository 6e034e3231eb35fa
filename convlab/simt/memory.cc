// Allocates, copies and fills device memory, and marks what is initialized.

#include "convlab/simt/memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/simt/call_recorder.h"
#include "convlab/simt/counting.h"
#include "convlab/simt/global_shadow.h"
#include "convlab/simt/initialized_bytes.h"
#include "convlab/simt/last_writer.h"

namespace convlab::simt {
namespace {

using internal::Range;
using internal::Ranges;

constexpr size_t kAlignment = 256;
constexpr size_t kGuardBytes = 512;  // a multiple of kAlignment
/// Returns the memory that a device of this size has. With overcommit the system might grant more.
size_t most_bytes() {
  static const auto bytes = static_cast<size_t>(usable_memory_bytes());
  return bytes;
}

uintptr_t address_of(const void* memory) { return reinterpret_cast<uintptr_t>(memory); }

const Range* tracked_range(const Ranges& ranges, const void* memory) {
  const Range* range = internal::range_at(ranges, address_of(memory));
  return range && range->initialized ? range : nullptr;
}

/// A part of a range, in bytes from its begin.
struct Part {
  size_t offset, bytes;
};
Part part_of(const Range& range, const void* memory, size_t bytes) {
  const size_t offset = address_of(memory) - range.base;
  return {offset, std::min(bytes, range.bytes - offset)};
}

}  // namespace

size_t host_bytes(size_t bytes) {
  const size_t words = bytes / 4 + 1;
  return bytes + 2 * kGuardBytes + words * (1 + sizeof(internal::GlobalCell));
}

void* allocate(size_t bytes, std::string_view name, const SourcePlace& place) {
  if (Recorder* const records = recorder()) return records->allocate(bytes, name);
  if (bytes > most_bytes()) throw unavailable("simt: cannot allocate {} bytes for '{}'", bytes, name);
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
  internal::add_range(std::move(range));
  internal::add_device_block(address_of(block), rounded + 2 * kGuardBytes);
  return owned.release() + kGuardBytes;
}

void release(void* memory, std::string_view how, const SourcePlace& place) {
  if (!memory) return;
  if (Recorder* const records = recorder()) return records->release(memory);
  internal::remove_range(address_of(memory), how, place);
  internal::remove_device_block(address_of(memory) - kGuardBytes);
  std::free(static_cast<char*>(memory) - kGuardBytes);
}

void narrow(const void* memory, size_t bytes, std::string_view name, RangeAccess access) {
  internal::narrow_range(address_of(memory), bytes, name, access);
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
    const Part part = part_of(*range, memory, bytes);
    internal::mark_bytes(range->initialized.get(), part.offset, part.bytes);
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
  // A copy between different alignments counts as initialized.
  if (!source || (address_of(from) - address_of(to)) % 4 != 0) return mark_initialised(to, bytes);
  const Part out = part_of(*source, from, bytes), in = part_of(*target, to, bytes);
  internal::copy_marks(target->initialized.get(), in.offset, source->initialized.get(), out.offset,
                       std::min(out.bytes, in.bytes));
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
  internal::add_range(std::move(range));
}

RegisteredRange::~RegisteredRange() {
  if (base_) internal::remove_range(address_of(base_));
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
  internal::add_range_once(std::move(range));
}

}  // namespace convlab::simt
