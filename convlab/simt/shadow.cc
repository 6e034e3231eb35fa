#include "convlab/simt/shadow.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "convlab/base/error.h"

namespace convlab::simt::internal {
namespace {

// Zero pages, which take memory only when touched.
Cell* map_cells(size_t count) {
  void* memory = mmap(nullptr, std::max<size_t>(count, 1) * sizeof(Cell), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw unavailable("simt: no address space for {} shadow cells", count);
  return static_cast<Cell*>(memory);
}

// Can the access and what the record holds run at the same time?
bool concurrent(const AccessRecord& record, const Accessor& accessor) {
  const AccessRecord& now = accessor.now;
  if (record.epoch != now.epoch) return false;
  if (record.many_warps || record.warp != now.warp) return true;
  // wmma gives an element to the same lane in each load and store of the same warp.
  if (record.collective && record.lanes == now.lanes) return false;
  return !accessor.clock->ordered(record, now.lanes);
}

AccessRecord record_of(const Accessor& accessor, bool atomic) {
  AccessRecord record = accessor.now;
  record.atomic = atomic;
  record.collective = (record.lanes & (record.lanes - 1)) != 0;
  return record;
}

// Adds a new access to the record: for reads, and for atomics, several of which may stand side by side.
void join(AccessRecord& record, const Accessor& accessor, bool atomic) {
  const AccessRecord& now = accessor.now;
  if (record.epoch != now.epoch) {
    record = record_of(accessor, atomic);
  } else if (record.warp != now.warp) {
    record.many_warps = 1;
  } else if (!record.many_warps && record.stamp <= accessor.clock->ordered_through) {
    record = record_of(accessor, atomic);
  } else {
    if (record.lanes != now.lanes) record.collective = 0;
    record.lanes |= now.lanes;
    record.stamp = now.stamp;
  }
}

ShadowResult touch_cell(Cell& cell, AccessKind kind, const Accessor& accessor) {
  ShadowResult result;
  if (!is_write(kind)) {
    if (cell.write.epoch < accessor.block_epoch) {
      result.kind = ShadowResult::uninitialised;
    } else if (concurrent(cell.write, accessor)) {
      result = {ShadowResult::race, cell.write, true};
    }
    join(cell.read, accessor, false);
    return result;
  }
  const bool atomic = kind == AccessKind::atomic_update || kind == AccessKind::atomic_write;
  if (kind == AccessKind::atomic_update && cell.write.epoch < accessor.block_epoch) {
    result.kind = ShadowResult::uninitialised;
  } else if (!(atomic && cell.write.atomic) && concurrent(cell.write, accessor)) {
    result = {ShadowResult::race, cell.write, true};
  } else if (concurrent(cell.read, accessor)) {
    result = {ShadowResult::race, cell.read, false};
  }
  if (!atomic) {
    cell.write = record_of(accessor, false);
  } else if (cell.write.epoch == accessor.now.epoch && !cell.write.atomic &&
             cell.write.stamp > accessor.clock->ordered_through) {
    // A thread's own plain write before its atomic stays on record: it races with others' atomics.
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

void WarpClock::synchronise(LaneMask mask, LaneMask whole) {
  if (mask == whole) {
    ordered_through = stamp++;
    partial = false;
    return;
  }
  if (!partial) {
    std::fill(&seen[0][0], &seen[0][0] + 32 * 32, 0u);
    partial = true;
  }
  uint32_t joined[32];
  for (int j = 0; j < 32; ++j) {
    uint32_t latest = mask >> j & 1 ? stamp : 0;
    for (int i = 0; i < 32; ++i) {
      if (mask >> i & 1) latest = std::max(latest, seen[i][j]);
    }
    joined[j] = latest;
  }
  for (int i = 0; i < 32; ++i) {
    if (mask >> i & 1) std::copy(joined, joined + 32, seen[i]);
  }
  ++stamp;
}

bool WarpClock::ordered(const AccessRecord& record, LaneMask lanes) const {
  if (record.stamp <= ordered_through) return true;
  for (LaneMask mine = lanes; mine != 0; mine &= mine - 1) {
    const int i = std::countr_zero(mine);
    for (LaneMask others = record.lanes & ~(1u << i); others != 0; others &= others - 1) {
      if (!partial || seen[i][std::countr_zero(others)] < record.stamp) return false;
    }
  }
  return true;
}

Shadow::Shadow(size_t bytes) : bytes_((bytes + 3) / 4 * 4), words_(map_cells(bytes_ / 4)), split_(map_cells(bytes_)) {}

Shadow::~Shadow() {
  munmap(words_, std::max<size_t>(bytes_ / 4, 1) * sizeof(Cell));
  munmap(split_, std::max<size_t>(bytes_, 1) * sizeof(Cell));
}

void Shadow::clear() {
  std::fill(words_, words_ + bytes_ / 4, Cell{});
  std::fill(split_, split_ + bytes_, Cell{});
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
      cell = Cell{};  // from an older block
    if (is_in_flight(cell, accessor.block_epoch)) {
      keep({ShadowResult::in_flight, cell.write, true});
      offset = stop;
      continue;
    }
    const bool whole = stop - offset == 4;
    if (whole && !is_split(cell, accessor.block_epoch)) {
      keep(touch_cell(cell, kind, accessor));
      offset = stop;
      continue;
    }
    Cell* parts = shadow.split() + word * 4;
    if (!is_split(cell, accessor.block_epoch)) {
      std::fill(parts, parts + 4, cell);
      cell.write.epoch = kSplitEpoch;
      cell.write.stamp = accessor.block_epoch;
    }
    for (; offset < stop; ++offset) keep(touch_cell(parts[offset % 4], kind, accessor));
  }
  return first;
}

void mark_in_flight(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor) {
  AccessRecord write = accessor.now;
  write.epoch = kInFlightEpoch;
  write.stamp = accessor.block_epoch;
  mark(shadow, offset, bytes, write);
}

void mark_landed(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor) {
  mark(shadow, offset, bytes, accessor.now);
}

}  // namespace convlab::simt::internal
