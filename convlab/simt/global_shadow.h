#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "convlab/simt/atomic_order.h"
#include "convlab/simt/shadow.h"
#include "convlab/simt/where.h"

/// Shadow memory for the blocks of a launch: for each 4 bytes of global memory, which block wrote them last and which
/// read them first. Blocks of a launch are unordered, so accesses of two blocks to one address are a race if one of
/// them writes and not both are atomic, whichever ran first here, unless one of these orders them:
///
///   - Release and acquire: __threadfence() followed by an atomic operation of the first block, and later an atomic
///     operation of the second. What the first did before happens before what the second does after (the last block of
///     a reduction, flags, locks). The two atomics need not use the same address, so a kernel that uses several may
///     hide a race.
///   - Atomic operations on one address are totally ordered. So the last block to use a counter may reset it.
///
/// A volatile access counts as atomic. A plain read is not reported if the same thread continues with an atomic
/// operation on the address: it is the initial read of an atomicCAS loop. Reads of memory that a launch only reads are
/// the cheapest case. Of several blocks that read an address only the first is recorded.
///
/// Words that two blocks access in parts (half, unsigned char) are tracked per byte, in a table of the launch.
namespace convlab::simt::internal {

/// A record in a cell. Its fields, from the highest bits:
///
///   - serial: the block's serial number, which no other launch uses
///   - several: of a write: other blocks stored the same value
///   - split: the word's bytes have their own cells
///   - flag: of a write: it was atomic; of a read: other blocks have read, too
///   - mask: which of the 4 bytes
///   - clock: how many releases the block had made before (saturates at kMaxClock)
///   - thread and site, for reports
namespace record {
inline constexpr int kSiteBits = 12, kThreadShift = kSiteBits, kThreadBits = 10;
inline constexpr int kClockShift = kThreadShift + kThreadBits, kClockBits = 8;
inline constexpr int kMaskShift = kClockShift + kClockBits;
inline constexpr int kSerialShift = kMaskShift + 7, kSerialBits = 64 - kSerialShift;
inline constexpr uint64_t kFlag = uint64_t{1} << (kMaskShift + 4), kSplit = kFlag << 1, kSeveral = kSplit << 1;
inline constexpr uint64_t kWhole = 0xf, kMaskField = kWhole << kMaskShift;
inline constexpr uint64_t kMaxClock = (1 << kClockBits) - 1, kClockField = kMaxClock << kClockShift;

inline uint64_t serial_of(uint64_t record) { return record >> kSerialShift; }
inline int thread_of(uint64_t record) { return static_cast<int>(record >> kThreadShift & ((1 << kThreadBits) - 1)); }
inline uint64_t site_of(uint64_t record) { return record & ((uint64_t{1} << kSiteBits) - 1); }
}  // namespace record

struct GlobalCell {
  std::atomic<uint64_t> write{0}, read{0};
};

/// Returns zeroed cells for `bytes` of memory. They take memory only when touched.
std::shared_ptr<GlobalCell[]> make_global_cells(size_t bytes);

/// Zeroes the cells that are not zero.
void forget(GlobalCell* cells, size_t bytes);

/// A location in a kernel: the return address of an access, or the source line for intrinsics.
struct Site {
  const void* code = nullptr;
  Where where{};
};

/// A worker's cache of site numbers in a launch.
class SiteNumbers {
 public:
  uint64_t& operator[](const void* code) {
    Entry& entry = entries_[(reinterpret_cast<uintptr_t>(code) >> 1) % std::size(entries_)];
    if (entry.code != code) entry = {code, 0};
    return entry.number;
  }

 private:
  struct Entry {
    const void* code = nullptr;
    uint64_t number = 0;  // 0: not requested yet
  };
  Entry entries_[128];
};

/// One block's view of global memory.
struct GlobalAccessor {
  uint64_t floor = 0;     ///< records below it are from earlier launches
  uint64_t now = 0;       ///< the record of a plain access of this block to a whole word, without thread and site
  uint64_t acquired = 0;  ///< releases with a ticket up to this one happen before the block's accesses
  bool acquires = false;  ///< an atomic operation ran since `acquired` was set: all releases so far happen before, too
  bool fenced = false;    ///< there was a __threadfence() since the last release
  uint64_t seen = 0;      ///< releases with a ticket up to this one are acquired at the next fence

  void fence() {
    fenced = true;
    acquired = acquired < seen ? seen : acquired;
  }
};

/// Fast path: returns true if a plain access to a whole word needs neither a check nor a new record.
inline bool touch_quickly(const GlobalCell& cell, bool is_write, const GlobalAccessor& accessor) {
  const uint64_t write = cell.write.load(std::memory_order_relaxed);
  if (is_write || write >= accessor.floor) return (write ^ accessor.now) >> record::kClockShift == 0;
  const uint64_t read = cell.read.load(std::memory_order_relaxed);
  return (read ^ accessor.now) >> record::kClockShift == 0 || (read >= accessor.floor && (read & record::kFlag) != 0);
}

/// Returns true if several blocks have read the word. A write then races with at least one, so no more need be
/// recorded.
inline bool many_have_read(const GlobalCell& cell, const GlobalAccessor& accessor) {
  const uint64_t read = cell.read.load(std::memory_order_relaxed);
  return read >= accessor.floor && (read & record::kFlag) != 0;
}

/// The other side of a race.
struct OtherAccess {
  int64_t block = -1;  ///< -1: only known to exist
  int thread = 0;
  Site site;
  bool wrote = false;
  bool unless_equal = false;  ///< no race if the access stores the same value, as seen once the store has completed
};

/// A plain read of an address that another block wrote atomically, or the reverse. It is a race unless the reader
/// continues with an atomic operation of its own, which is known only after the launch.
struct CandidateRace {
  const GlobalCell* cell = nullptr;
  uintptr_t address = 0;
  int64_t block = 0;
  int thread = 0;
  bool is_write = false;
  Site site;
  OtherAccess other;
};

/// Records and checks the accesses of a launch's blocks to global memory. Thread-safe for the launch's workers.
class GlobalRaces {
 public:
  /// A launch with more blocks is not checked: there are not enough serial numbers.
  static constexpr int64_t kMostBlocks = (int64_t{1} << (record::kSerialBits - 1)) - 1;

  /// Must be called before the first block of a launch that is checked, with the first of as many new serial numbers.
  void begin(uint64_t first_serial, int64_t blocks);
  bool checked() const { return end_ != 0; }

  /// All blocks have reached a barrier of the grid: what they did before it happens before what they do now. Needs new
  /// serial numbers, as begin(). The blocks must get new accessors.
  void begin_interval(uint64_t first_serial);

  GlobalAccessor accessor_of(int64_t block) const;

  /// Returns the site's number in records; 0 if the launch has more sites than records can number.
  uint64_t number_of(const Site& site);

  /// Checks and records an access to the bytes `mask` (bit 0: the lowest) of the word at `address`. `site` is a number
  /// from number_of().
  std::optional<OtherAccess> touch(GlobalCell& cell, uintptr_t address, unsigned mask, AccessKind kind, int thread,
                                   uint64_t site, GlobalAccessor& accessor);

  /// Marks bytes to which several blocks stored one value: any read or change then races with one of them.
  void mark_several(GlobalCell& cell, uintptr_t address, unsigned mask);

  /// Must be called after the check of each atomic or volatile access of a block. Releases after a fence, too.
  void synchronize(GlobalAccessor& accessor, const AtomicOrder& order = {});

  /// Returns the candidate races that remain after all blocks are done.
  std::vector<CandidateRace> candidates() const;

  /// Return the serial number of the first block in the first interval, and the end of those of the last interval.
  /// take_sites(), after all blocks: the sites by number.
  uint64_t first_serial() const { return first_; }
  uint64_t end_serial() const { return end_; }
  std::vector<Site> take_sites() { return std::move(sites_); }

 private:
  struct Access {
    AccessKind kind;
    uint64_t record;  // the record that the access leaves
  };
  bool in_launch(uint64_t record) const;
  bool of_other(uint64_t record, const GlobalAccessor& accessor) const;
  bool ordered(uint64_t record, GlobalAccessor& accessor);
  bool must_split(uint64_t write, uint64_t read, unsigned mask, const GlobalAccessor& accessor) const;
  std::optional<OtherAccess> touch_word(GlobalCell& cell, uintptr_t address, unsigned mask, const Access& access,
                                        GlobalAccessor& accessor);
  std::optional<OtherAccess> touch_bytes(GlobalCell& cell, uintptr_t address, unsigned mask, const Access& access,
                                         GlobalAccessor& accessor);
  uint64_t after_write(uint64_t write, const Access& access, unsigned mask, const GlobalAccessor& accessor) const;
  uint64_t after_read(uint64_t read, const Access& access, unsigned mask, GlobalAccessor& accessor);
  std::optional<OtherAccess> conflict(GlobalCell& cell, uintptr_t address, uint64_t write, uint64_t read,
                                      const Access& access, GlobalAccessor& accessor);
  OtherAccess describe(uint64_t record, bool wrote) const;
  Site place_of(uint64_t record) const;
  void add_candidate(CandidateRace candidate);

  uint64_t begin_ = 0, end_ = 0;  // serials
  uint64_t first_ = 0;            // begin_ of the first interval
  std::atomic<uint64_t> ticket_{0};

  mutable std::mutex sites_mutex_;
  std::vector<Site> sites_{Site{}};  // by number; 0: unknown
  std::unordered_map<uintptr_t, uint64_t> numbers_;

  std::mutex releases_mutex_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> releases_;  // by block: tickets of its releases

  /// Split words by cell. Sharded, so that workers seldom wait for each other.
  struct SplitWords {
    std::mutex mutex;
    std::unordered_map<const GlobalCell*, std::array<GlobalCell, 4>> words;
  };
  std::array<SplitWords, 256> split_;

  std::mutex candidates_mutex_;
  std::vector<CandidateRace> candidates_;  // of this interval
  std::vector<CandidateRace> standing_;    // of earlier intervals
};

}  // namespace convlab::simt::internal
