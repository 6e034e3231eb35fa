// Detects races between the blocks of a launch on global memory.

#include "convlab/simt/global_shadow.h"

#include <sys/mman.h>

#include <algorithm>

#include "convlab/base/error.h"

namespace convlab::simt::internal {
namespace {

using namespace record;

constexpr size_t kMaxCandidates = 1 << 16;

unsigned mask_of(uint64_t record) { return static_cast<unsigned>(record >> kMaskShift & kWhole); }
uint64_t clock_of(uint64_t record) { return record >> kClockShift & kMaxClock; }

// A volatile access counts as atomic.
bool counts_as_atomic(AccessKind kind) { return !is_plain(kind); }

// Returns the record of one byte that has its own cell.
uint64_t byte_of(uint64_t record, int byte) { return mask_of(record) >> byte & 1 ? record | kMaskField : 0; }

}  // namespace

std::shared_ptr<GlobalCell[]> make_global_cells(size_t bytes) {
  const size_t size = (bytes / 4 + 1) * sizeof(GlobalCell);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw unavailable("simt: cannot reserve address space for the shadow memory of {} bytes", bytes);
  }
  return {static_cast<GlobalCell*>(memory), [size](GlobalCell* cells) { munmap(cells, size); }};
}

void forget(GlobalCell* cells, size_t bytes) {
  for (size_t i = 0; i < bytes / 4 + 1; ++i) {
    if (cells[i].write != 0) cells[i].write = 0;
    if (cells[i].read != 0) cells[i].read = 0;
  }
}

void GlobalRaces::begin(uint64_t first_serial, int64_t blocks) {
  begin_ = first_serial;
  end_ = begin_ + static_cast<uint64_t>(blocks);
  first_ = begin_;
}

void GlobalRaces::begin_interval(uint64_t first_serial) {
  standing_ = candidates();
  candidates_.clear();
  releases_.clear();
  for (SplitWords& split : split_) split.words.clear();
  end_ = first_serial + (end_ - begin_);
  begin_ = first_serial;
}

GlobalAccessor GlobalRaces::accessor_of(int64_t block) const {
  GlobalAccessor accessor;
  accessor.floor = begin_ << kSerialShift;
  accessor.now = (begin_ + static_cast<uint64_t>(block)) << kSerialShift | kMaskField;
  return accessor;
}

uint64_t GlobalRaces::number_of(const Site& site) {
  const uintptr_t key = site.code ? reinterpret_cast<uintptr_t>(site.code)
                                  : reinterpret_cast<uintptr_t>(site.where.file_name()) + site.where.line();
  std::lock_guard lock(sites_mutex_);
  if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
  if (sites_.size() == size_t{1} << kSiteBits) return 0;
  sites_.push_back(site);
  return numbers_[key] = sites_.size() - 1;
}

bool GlobalRaces::in_launch(uint64_t record) const { return serial_of(record) >= begin_ && serial_of(record) < end_; }

bool GlobalRaces::of_other(uint64_t record, const GlobalAccessor& accessor) const {
  return in_launch(record) && ((record & kSeveral) != 0 || serial_of(record) != serial_of(accessor.now));
}

void GlobalRaces::synchronize(GlobalAccessor& accessor, const AtomicOrder& order) {
  if (order.acquire == AtomicOrder::Acquire::now) accessor.acquires = true;
  if (order.acquire == AtomicOrder::Acquire::at_fence) accessor.seen = ticket_.load();
  if (!accessor.fenced && !order.releases) return;
  accessor.fenced = false;
  {
    std::lock_guard lock(releases_mutex_);
    auto& tickets = releases_[serial_of(accessor.now)];
    const uint64_t ticket = ticket_.fetch_add(1) + 1;
    if (tickets.size() <= kMaxClock) tickets.push_back(ticket);
  }
  if (clock_of(accessor.now) < kMaxClock) accessor.now += uint64_t{1} << kClockShift;
}

// Returns true if the block in the record released the access before the accessor's block acquired.
bool GlobalRaces::ordered(uint64_t record, GlobalAccessor& accessor) {
  if (accessor.acquires) {
    accessor.acquires = false;
    accessor.acquired = ticket_.load();
  }
  if (accessor.acquired == 0 || (record & kSeveral) != 0) return false;
  std::lock_guard lock(releases_mutex_);
  const auto found = releases_.find(serial_of(record));
  if (found == releases_.end()) return false;
  const std::vector<uint64_t>& tickets = found->second;
  return clock_of(record) < tickets.size() && tickets[clock_of(record)] <= accessor.acquired;
}

// Returns true if several blocks access the word and at least one accesses only a part of it.
bool GlobalRaces::must_split(uint64_t write, uint64_t read, unsigned mask, const GlobalAccessor& accessor) const {
  const bool written = in_launch(write), was_read = in_launch(read);
  if (written && (write & kSplit) != 0) return true;
  if (mask == kWhole && (!written || mask_of(write) == kWhole) && (!was_read || mask_of(read) == kWhole)) return false;
  return of_other(write, accessor) || of_other(read, accessor) || (was_read && (read & kFlag) != 0);
}

std::optional<OtherAccess> GlobalRaces::touch(GlobalCell& cell, uintptr_t address, unsigned mask, AccessKind kind,
                                              int thread, uint64_t site, GlobalAccessor& accessor) {
  Access access{kind, accessor.now};
  access.record |= static_cast<uint64_t>(thread) << kThreadShift | site;
  if (is_write(kind) && counts_as_atomic(kind)) access.record |= kFlag;
  return touch_word(cell, address, mask, access, accessor);
}

// Other workers access the cell concurrently. A writer stores its record and then looks for readers; a reader stores
// its record and then looks for writers: at least one of the two sees the other.
std::optional<OtherAccess> GlobalRaces::touch_word(GlobalCell& cell, uintptr_t address, unsigned mask,
                                                   const Access& access, GlobalAccessor& accessor) {
  while (true) {
    uint64_t write = cell.write.load(), read = cell.read.load();
    if (must_split(write, read, mask, accessor)) break;
    if (is_write(access.kind)) {
      const uint64_t next = after_write(write, access, mask, accessor);
      if (next != write && !cell.write.compare_exchange_strong(write, next)) continue;
      read = cell.read.load();
    } else {
      if (access.kind == AccessKind::read) {
        const uint64_t next = after_read(read, access, mask, accessor);
        if (next != read && !cell.read.compare_exchange_strong(read, next)) continue;
      }
      write = cell.write.load();
    }
    if (must_split(write, read, mask, accessor)) break;
    return conflict(cell, address, write, read, access, accessor);
  }
  return touch_bytes(cell, address, mask, access, accessor);
}

std::optional<OtherAccess> GlobalRaces::touch_bytes(GlobalCell& cell, uintptr_t address, unsigned mask,
                                                    const Access& access, GlobalAccessor& accessor) {
  SplitWords& split = split_[address / 4 % split_.size()];
  std::lock_guard lock(split.mutex);
  const auto [entry, is_new] = split.words.try_emplace(&cell);
  std::array<GlobalCell, 4>& bytes = entry->second;
  if (is_new) {
    const uint64_t write = cell.write.exchange((accessor.now & ~kMaskField) | kSplit);
    const uint64_t read = cell.read.load();
    for (int byte = 0; byte < 4; ++byte) {
      if (in_launch(write)) bytes[byte].write = byte_of(write, byte);
      if (in_launch(read)) bytes[byte].read = byte_of(read, byte);
    }
  }
  std::optional<OtherAccess> first;
  for (int byte = 0; byte < 4; ++byte) {
    if ((mask >> byte & 1) == 0) continue;
    const auto other = touch_word(bytes[byte], address, kWhole, access, accessor);
    if (other && (!first || first->unless_equal)) first = other;
  }
  return first;
}

void GlobalRaces::mark_several(GlobalCell& cell, uintptr_t address, unsigned mask) {
  uint64_t write = cell.write.load();
  while ((write & kSplit) == 0) {
    if (cell.write.compare_exchange_weak(write, write | kSeveral)) return;
  }
  SplitWords& split = split_[address / 4 % split_.size()];
  std::lock_guard lock(split.mutex);
  std::array<GlobalCell, 4>& bytes = split.words[&cell];
  for (int byte = 0; byte < 4; ++byte) {
    if ((mask >> byte & 1) != 0) bytes[byte].write.fetch_or(kSeveral);
  }
}

uint64_t GlobalRaces::after_write(uint64_t write, const Access& access, unsigned mask,
                                  const GlobalAccessor& accessor) const {
  const uint64_t mine = (access.record & ~kMaskField) | static_cast<uint64_t>(mask) << kMaskShift;
  if (serial_of(write) != serial_of(accessor.now)) return mine;
  const bool same_clock = clock_of(write) == clock_of(mine);
  // A plain write before the block's own atomic stays in the record: it races with the atomics of other blocks.
  if (same_clock && counts_as_atomic(access.kind) && (write & kFlag) == 0) return write | (mine & kMaskField);
  const uint64_t joined = mine | (write & kMaskField);
  return (joined ^ write) >> kClockShift == 0 ? write : joined;
}

uint64_t GlobalRaces::after_read(uint64_t read, const Access& access, unsigned mask, GlobalAccessor& accessor) {
  const uint64_t mine = (access.record & ~kMaskField) | static_cast<uint64_t>(mask) << kMaskShift;
  if (!in_launch(read)) return mine;
  if (serial_of(read) != serial_of(accessor.now)) return ordered(read, accessor) ? mine : read | kFlag;
  const uint64_t joined = mine | (read & (kMaskField | kFlag));
  return (joined ^ read) >> kClockShift == 0 ? read : joined;
}

std::optional<OtherAccess> GlobalRaces::conflict(GlobalCell& cell, uintptr_t address, uint64_t write, uint64_t read,
                                                 const Access& access, GlobalAccessor& accessor) {
  const bool atomic = counts_as_atomic(access.kind), atomic_before = (write & kFlag) != 0;
  const auto keep = [&](const OtherAccess& other) {
    add_candidate({&cell, address, static_cast<int64_t>(serial_of(accessor.now) - begin_), thread_of(access.record),
                   is_write(access.kind), place_of(access.record), other});
  };
  if (of_other(write, accessor) && !(atomic && atomic_before) && !ordered(write, accessor)) {
    OtherAccess other = describe(write, true);
    // Another block that reads the word may run too early to see that value.
    const bool read_by_others = of_other(read, accessor) || (in_launch(read) && (read & kFlag) != 0);
    other.unless_equal = access.kind == AccessKind::write && !atomic_before && !read_by_others;
    if (is_write(access.kind) || !atomic_before) return other;
    keep(other);
  }
  if (!is_write(access.kind) || !in_launch(read)) return std::nullopt;
  if (atomic) {
    // The thread's own read was the initial read of an atomicCAS loop.
    const bool own = serial_of(read) == serial_of(accessor.now) && thread_of(read) == thread_of(access.record);
    if (own || (read & kFlag) != 0) {
      cell.read.compare_exchange_strong(read, 0);
      return std::nullopt;
    }
  }
  if (of_other(read, accessor)) {
    if (ordered(read, accessor)) return std::nullopt;
    const OtherAccess other = describe(read, false);
    if (!atomic) return other;
    keep(other);
  } else if ((read & kFlag) != 0 && !accessor.acquires && accessor.acquired == 0) {
    return OtherAccess{};
  }
  return std::nullopt;
}

OtherAccess GlobalRaces::describe(uint64_t record, bool wrote) const {
  return {static_cast<int64_t>(serial_of(record) - begin_), thread_of(record), place_of(record), wrote};
}

Site GlobalRaces::place_of(uint64_t record) const {
  std::lock_guard lock(sites_mutex_);
  return sites_[site_of(record)];
}

void GlobalRaces::add_candidate(CandidateRace candidate) {
  std::lock_guard lock(candidates_mutex_);
  if (candidates_.size() == kMaxCandidates) {
    std::erase_if(candidates_, [&](const CandidateRace& old) { return !in_launch(old.cell->read.load()); });
    if (candidates_.size() == kMaxCandidates) return;
  }
  candidates_.push_back(candidate);
}

std::vector<CandidateRace> GlobalRaces::candidates() const {
  std::vector<CandidateRace> standing = standing_;
  std::copy_if(candidates_.begin(), candidates_.end(), std::back_inserter(standing),
               [&](const CandidateRace& candidate) { return in_launch(candidate.cell->read.load()); });
  return standing;
}

}  // namespace convlab::simt::internal
