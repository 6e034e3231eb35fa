// Detects races and uninitialized reads among the threads of one block with shadow memory.

#include "convlab/simt/shadow.h"

#include <sys/mman.h>

#include <algorithm>

#include "convlab/base/error.h"

namespace convlab::simt::internal {
namespace {

// Maps zero pages, which take memory only when touched.
Cell* map_cells(size_t count) {
  void* memory = mmap(nullptr, std::max<size_t>(count, 1) * sizeof(Cell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw unavailable("simt: cannot reserve address space for {} shadow cells", count);
  return static_cast<Cell*>(memory);
}

// Returns true if the access and those in the record are concurrent: neither happens before the other.
bool concurrent(const AccessRecord& record, const Accessor& accessor) {
  const AccessRecord& now = accessor.now;
  if (record.epoch != now.epoch) return false;
  if (accessor.clocks->ordered(record, now)) return false;
  if (record.many_warps || record.warp != now.warp) return true;
  // wmma assigns an element to the same lane in each load and store of the same warp.
  if (record.collective && record.lanes == now.lanes) return false;
  return !accessor.clock->ordered(record, now.lanes);
}

AccessRecord record_of(const Accessor& accessor, bool atomic) {
  AccessRecord record = accessor.now;
  record.atomic = atomic;
  record.collective = (record.lanes & (record.lanes - 1)) != 0;
  return record;
}

// Adds an access to the record. For reads and for atomics, which may be concurrent with others of their kind. Of lanes
// that have released a different number of times, the lowest stamp counts: it is the one that all of them have.
void join(AccessRecord& record, const Accessor& accessor, bool atomic) {
  const AccessRecord& now = accessor.now;
  if (record.epoch != now.epoch ||
      (record.warp == now.warp && !record.many_warps && record.stamp <= accessor.clock->ordered_through)) {
    record = record_of(accessor, atomic);
  } else if (record.warp != now.warp) {
    record.many_warps = 1;
  } else {
    if (record.lanes != now.lanes) record.collective = 0;
    if (!atomic) record.atomic = 0;
    record.lanes |= now.lanes;
    const bool lowest = accessor.clock->released && !accessor.clock->partial && record.lanes != now.lanes;
    if (!lowest || now.stamp < record.stamp) record.stamp = now.stamp;
  }
}

// Forgets readers that a write comes after, so that the stamps of later reads count.
void forget_ordered_readers(AccessRecord& read, const Accessor& accessor) {
  const bool others = read.many_warps || read.warp != accessor.now.warp || (read.lanes & ~accessor.now.lanes) != 0;
  if (accessor.clocks->in_use() && others) read = {};
}

// Removes the lane of an atomic operation from the readers: it may have read the word before, as an atomicCAS loop
// does.
void forget_guess(AccessRecord& read, const AccessRecord& now) {
  if (read.epoch != now.epoch || read.many_warps || read.warp != now.warp) return;
  read.lanes &= ~now.lanes;
  if (read.lanes == 0) read = {};
}

// Decides whether a write that races with another one is harmless if it stores the value that is already there. Earlier
// racing stores also stored that value, or they would have been reported. But each reader of the cell must be sure to
// see the value: it must have written the cell first, and only with that value.
ShadowResult::IfEqual if_equal(const Cell& cell, bool was_read) {
  using enum ShadowResult::IfEqual;
  const AccessRecord &write = cell.write, &read = cell.read;
  if (write.atomic) return still_race;
  if (write.many_warps) return if_others_did;
  const bool own = !write.again && !read.many_warps && read.warp == write.warp && (read.lanes & ~write.lanes) == 0;
  return !was_read || own ? harmless : still_race;
}

ShadowResult touch_cell(Cell& cell, Shadow::Of of, AccessKind kind, const Accessor& accessor) {
  ShadowResult result;
  const bool unwritten = of == Shadow::Of::shared && cell.write.epoch < accessor.block_epoch;
  if (!is_write(kind)) {
    const bool is_volatile = kind == AccessKind::volatile_read;
    if (unwritten) {
      result.kind = ShadowResult::uninitialized;
    } else if (!(is_volatile && cell.write.atomic) && concurrent(cell.write, accessor)) {
      result = {.kind = ShadowResult::race, .other = cell.write, .other_was_write = true};
    }
    join(cell.read, accessor, is_volatile);
    return result;
  }
  const bool atomic = is_atomic(kind);
  if (atomic) forget_guess(cell.read, accessor.now);
  const bool was_written = !(atomic && cell.write.atomic) && concurrent(cell.write, accessor);
  const bool was_read = !(atomic && cell.read.atomic) && concurrent(cell.read, accessor);
  if (kind == AccessKind::atomic_update && unwritten) {
    result.kind = ShadowResult::uninitialized;
  } else if (was_written) {
    result = {.kind = ShadowResult::race, .other = cell.write, .other_was_write = true};
  } else if (was_read) {
    result = {.kind = ShadowResult::race, .other = cell.read};
  }
  if (!atomic) {
    if (was_written) result.if_equal = if_equal(cell, was_read);
    const bool again = cell.write.epoch == accessor.now.epoch || cell.read.epoch == accessor.now.epoch;
    cell.write = record_of(accessor, false);
    cell.write.again = again;
    if (!was_read) forget_ordered_readers(cell.read, accessor);
  } else if (cell.write.epoch == accessor.now.epoch && !cell.write.atomic &&
             cell.write.stamp > accessor.clock->ordered_through) {
    // A thread's own plain write before its atomic stays in the record: it races with atomics of other threads.
  } else {
    join(cell.write, accessor, true);
  }
  return result;
}

bool is_split(const Cell& word, uint32_t block_epoch) {
  return word.write.epoch == kSplitEpoch && word.write.stamp == block_epoch;
}

bool is_in_flight(const Cell& word, uint32_t block_epoch) {
  return word.write.epoch == kInFlightEpoch && word.write.stamp == block_epoch;
}

void mark(Shadow& shadow, size_t offset, size_t bytes, const AccessRecord& write) {
  std::fill_n(shadow.words() + offset / 4, bytes / 4, Cell{write, {}});
}

}  // namespace

Shadow::Shadow(Of of, size_t bytes)
    : of_(of), bytes_((bytes + 3) / 4 * 4), words_(map_cells(bytes_ / 4)), split_(map_cells(bytes_)) {}

Shadow::~Shadow() {
  munmap(words_, std::max<size_t>(bytes_ / 4, 1) * sizeof(Cell));
  munmap(split_, std::max<size_t>(bytes_, 1) * sizeof(Cell));
}

void Shadow::clear() {
  std::fill(words_, words_ + bytes_ / 4, Cell{});
  std::fill(split_, split_ + bytes_, Cell{});
}

void PagedShadow::begin_block() {
  const size_t used = pages_.size();
  // The next block probably needs as many pages as this one: mapping them again would take longer than to use them.
  needed_ = std::max(used, needed_ - needed_ / 16);
  if (shadows_.size() > std::max(kKept, needed_)) shadows_.resize(std::max(kKept, needed_));
  if (used <= kKept) return;
  pages_.clear();
  slots_ = {};
}

Shadow& PagedShadow::find(uintptr_t number) {
  const auto [page, is_new] = pages_.try_emplace(number);
  if (is_new) {
    const size_t used = pages_.size() - 1;
    if (used == shadows_.size()) shadows_.push_back(std::make_unique<Shadow>(Shadow::Of::global, kPageBytes));
    page->second = shadows_[used].get();
  }
  slots_[number % kSlots] = {number, page->second};
  return *page->second;
}

ShadowResult touch(Shadow& shadow, size_t offset, size_t bytes, AccessKind kind, const Accessor& accessor) {
  ShadowResult first;
  auto keep = [&](const ShadowResult& result) {
    if (first.kind == ShadowResult::ok) first = result;
  };
  const size_t end = offset + bytes;
  while (offset < end) {
    const size_t word = offset / 4;
    const size_t stop = std::min(end, word * 4 + 4);
    Cell& cell = shadow.words()[word];
    if (cell.write.epoch >= kInFlightEpoch && cell.write.stamp != accessor.block_epoch)
      cell = Cell{};  // from an earlier block
    if (is_in_flight(cell, accessor.block_epoch)) {
      keep({.kind = ShadowResult::in_flight, .other = cell.write, .other_was_write = true});
      offset = stop;
      continue;
    }
    const bool whole = stop - offset == 4;
    if (whole && !is_split(cell, accessor.block_epoch)) {
      keep(touch_cell(cell, shadow.of(), kind, accessor));
      offset = stop;
      continue;
    }
    Cell* parts = shadow.split() + word * 4;
    const bool one_part = stop - offset == 1;
    if (!is_split(cell, accessor.block_epoch)) {
      std::fill(parts, parts + 4, cell);
      cell.write.epoch = kSplitEpoch;
      cell.write.stamp = accessor.block_epoch;
    }
    // A struct that is read as a whole contains padding that nobody writes: it is enough if some byte was written.
    bool any_written = false;
    ShadowResult unwritten;
    for (; offset < stop; ++offset) {
      ShadowResult result = touch_cell(parts[offset % 4], shadow.of(), kind, accessor);
      if (result.kind == ShadowResult::uninitialized) {
        unwritten = result;
      } else {
        any_written = true;
        if (!one_part) result.if_equal = ShadowResult::IfEqual::still_race;
        keep(result);
      }
    }
    if (!any_written) keep(unwritten);
  }
  return first;
}

void mark_redundant(Shadow& shadow, size_t offset, size_t bytes) {
  Cell& word = shadow.words()[offset / 4];
  Cell& cell = bytes == 4 ? word : shadow.split()[offset];
  cell.write.many_warps = 1;
}

void mark_in_flight(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor) {
  AccessRecord write = accessor.now;
  write.epoch = kInFlightEpoch;
  write.stamp = accessor.block_epoch;
  mark(shadow, offset, bytes, write);
}

void mark_landed(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor) {
  AccessRecord write = accessor.now;
  write.code = 0;  // it belongs to an earlier access
  mark(shadow, offset, bytes, write);
}

}  // namespace convlab::simt::internal
