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

#include "convlab/simt/shadow.h"
#include "convlab/simt/where.h"

/// What a launch remembers of global memory: for each 4 bytes, which block wrote them last and which read them first.
/// Two blocks of a launch run in no order, so accesses of two blocks to one address are a race if one of them writes
/// and not both are atomic, whichever came first here, unless one of these orders them:
///
///   - __threadfence() and then an atomic operation of the first block, and later an atomic operation of the second:
///     what the first did before comes before what the second does after (the last block of a reduction, flags, locks).
///     We do not ask for both to be at one address, so a kernel that uses several may hide a race.
///   - atomic operations on one address follow each other. So the last block to use a counter may reset it.
///
/// A volatile access counts as atomic. A plain read is forgiven if the same thread goes on to an atomic operation on
/// what it read: the first guess of a loop around atomicCAS. Reads of memory that a launch only reads cost least. Of
/// several blocks that read an address we remember only the first.
///
/// Words that two blocks touch in parts (half, unsigned char) are kept by bytes, in a table of the launch.
namespace convlab::simt::internal {

/// A record in a cell, from its highest bits: the block, by a number that no other launch uses; `split`: the word's
/// bytes are kept apart; `several`: of a write: other blocks stored the same; `flag`: of a write: it was atomic, of a
/// read: other blocks have read, too; which of the 4 bytes; how often the block had released what it did before
/// (kMaxClock: at least); thread and place, for reports.
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

/// Zeroed cells for `bytes` of memory; they take memory only when touched.
std::shared_ptr<GlobalCell[]> make_global_cells(size_t bytes);

/// Zeroes what is not.
void forget(GlobalCell* cells, size_t bytes);

/// Returns the first of `count` numbers that no cell holds, for the blocks of a launch. Defined with the cells.
uint64_t take_block_serials(uint64_t count);

/// A place in a kernel: the return address of an access, or for intrinsics the line.
struct Site {
  const void* code = nullptr;
  Where where{};
};

/// Numbers of the places that a worker met in a launch.
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
    uint64_t number = 0;  // 0: not asked for yet
  };
  Entry entries_[128];
};

/// One block's side of it.
struct GlobalAccessor {
  uint64_t floor = 0;     ///< records below it are of earlier launches
  uint64_t now = 0;       ///< a record of this block: a plain access to a whole word, without thread and place
  uint64_t acquired = 0;  ///< releases with this ticket or a lower one come before what the block does
  bool acquires = false;  ///< so do all releases until now: there was an atomic operation since `acquired` was set
  bool fenced = false;    ///< there was a __threadfence() since the last release
};

/// Is there nothing to check or remember about this plain access to a whole word?
inline bool touch_quickly(const GlobalCell& cell, bool is_write, const GlobalAccessor& accessor) {
  const uint64_t write = cell.write.load(std::memory_order_relaxed);
  if (is_write || write >= accessor.floor) return (write ^ accessor.now) >> record::kClockShift == 0;
  const uint64_t read = cell.read.load(std::memory_order_relaxed);
  return (read ^ accessor.now) >> record::kClockShift == 0 || (read >= accessor.floor && (read & record::kFlag) != 0);
}

/// Have several blocks read it? Then whoever writes it races with one of them, and no more need be remembered.
inline bool many_have_read(const GlobalCell& cell, const GlobalAccessor& accessor) {
  const uint64_t read = cell.read.load(std::memory_order_relaxed);
  return read >= accessor.floor && (read & record::kFlag) != 0;
}

/// The other side of a race.
struct OtherAccess {
  int64_t block = -1;  ///< -1: we only know that there is one
  int thread = 0;
  Site site;
  bool wrote = false;
  bool unless_equal = false;  ///< it is no race if the access stores what the other stored, once that has landed
};

/// A plain read of what another block wrote by an atomic operation, or the reverse. It is a race unless the reader goes
/// on to its own atomic operation, which shows when the launch is over.
struct CandidateRace {
  const GlobalCell* cell = nullptr;
  uintptr_t address = 0;
  int64_t block = 0;
  int thread = 0;
  bool is_write = false;
  Site site;
  OtherAccess other;
};

/// What a launch's blocks did to global memory. Safe to call from its workers.
class GlobalRaces {
 public:
  /// Call it before the first block. Launches of more blocks than records can tell apart are not checked.
  void begin(int64_t blocks);
  bool checked() const { return end_ != 0; }

  GlobalAccessor accessor_of(int64_t block) const;

  /// The place's number in records; 0 where a launch has more places than records have numbers.
  uint64_t number_of(const Site& site);

  /// Checks and remembers an access to the bytes `mask` (1: the lowest) of the word at `address`. `site` is a number.
  std::optional<OtherAccess> touch(GlobalCell& cell, uintptr_t address, unsigned mask, AccessKind kind, int thread,
                                   uint64_t site, GlobalAccessor& accessor);

  /// Several blocks stored one value to these bytes: whoever reads or changes it races with one of them.
  void mark_several(GlobalCell& cell, uintptr_t address, unsigned mask);

  /// Comes before an atomic operation, or a volatile access, of a block.
  void synchronise(GlobalAccessor& accessor);

  /// The candidate races that stand, once all blocks are done.
  std::vector<CandidateRace> candidates() const;

  /// The number of the first block, and after all blocks the places by their numbers.
  uint64_t first_serial() const { return begin_; }
  std::vector<Site> take_sites() { return std::move(sites_); }

 private:
  struct Access {
    AccessKind kind;
    uint64_t record;  // what it leaves behind
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
  std::atomic<uint64_t> ticket_{0};

  mutable std::mutex sites_mutex_;
  std::vector<Site> sites_{Site{}};  // by number; 0: not known
  std::unordered_map<uintptr_t, uint64_t> numbers_;

  std::mutex releases_mutex_;
  std::unordered_map<uint64_t, std::vector<uint64_t>> releases_;  // of a block: tickets

  /// Words by their cell: a part of them, so that workers seldom wait for each other.
  struct SplitWords {
    std::mutex mutex;
    std::unordered_map<const GlobalCell*, std::array<GlobalCell, 4>> words;
  };
  std::array<SplitWords, 256> split_;

  std::mutex candidates_mutex_;
  std::vector<CandidateRace> candidates_;
};

}  // namespace convlab::simt::internal
