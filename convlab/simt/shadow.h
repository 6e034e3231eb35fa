#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "convlab/warps/trace.h"

/// What simt remembers of the threads of one block, to find their races on shared and on global memory: for each 4
/// bytes, who wrote and who read them last, and when.
///
/// Time is counted in barrier intervals: a worker's counter goes up at each block's start and at each __syncthreads,
/// and never goes back, so that nothing has to be cleared between blocks. Inside an interval, only __syncwarp orders
/// threads; each warp counts its own (WarpClock). Shuffles, votes and wmma wait for lanes but order no memory, as in
/// CUDA. What fences order, the Worker knows.
///
/// Where threads touch a part of a word (half, unsigned char), the word is split: its four bytes have their own cells
/// until the end of the block.
namespace convlab::simt::internal {

/// The last accesses of one kind, write or read, to one cell.
struct AccessRecord {
  uint32_t epoch = 0;  ///< barrier interval; 0: never
  uint32_t stamp = 0;  ///< the warp's clock
  LaneMask lanes = 0;  ///< of `warp`; more than one after reads or atomics by several
  uint32_t warp : 5 = 0;
  uint32_t many_warps : 1 = 0;  ///< lanes of other warps, too
  uint32_t atomic : 1 = 0;      ///< all of it by atomic operations, or volatile reads
  uint32_t collective : 1 = 0;  ///< all of it by warp-wide operations of these lanes together (wmma)
  uint32_t again : 1 = 0;       ///< of a write: in this interval somebody touched the cell before it
  static constexpr int kCodeBits = 23;
  uint32_t code : kCodeBits =
                      0;  ///< where: the lowest bits of the return address, of several accesses' one; 0: not known

  /// By the same lanes, with nothing between that orders memory?
  bool is_beside(const AccessRecord& other) const {
    return epoch == other.epoch && stamp == other.stamp && lanes == other.lanes && warp == other.warp &&
           many_warps == other.many_warps;
  }
};
static_assert(sizeof(AccessRecord) == 16);

struct Cell {
  AccessRecord write, read;
};
static_assert(sizeof(Cell) == 32);

/// write.epoch of a word whose bytes are kept apart; write.stamp is then the block's first epoch. Larger than any
/// epoch, so that the fast paths, which take only older epochs, leave it to the slow ones.
inline constexpr uint32_t kSplitEpoch = UINT32_MAX;

/// write.epoch of a word to which an asynchronous copy of the thread in `write` is under way; write.stamp is the
/// block's first epoch. The fast paths leave it to the slow ones, too.
inline constexpr uint32_t kInFlightEpoch = UINT32_MAX - 1;

/// What __syncwarp has ordered in one warp in this barrier interval.
struct WarpClock {
  uint32_t stamp = 1;            ///< of accesses now; goes up at each __syncwarp
  uint32_t ordered_through = 0;  ///< accesses with this stamp or less come before whatever any lane does now
  bool partial = false;          ///< `seen` is in use: a __syncwarp with less than the whole warp happened
  uint32_t seen[32][32];  ///< [i][j]: accesses of lane j with this stamp or less come before what lane i does now

  void restart() {
    stamp = 1;
    ordered_through = 0;
    partial = false;
  }

  /// A __syncwarp of `mask`; `whole` is the mask of all lanes that the warp has.
  void synchronise(LaneMask mask, LaneMask whole);

  /// Do all accesses in `record` by lanes outside `lanes` come before what each of `lanes` does now?
  bool ordered(const AccessRecord& record, LaneMask lanes) const;
};

/// Cells for one region of memory: the thread's static shared variables, the dynamic shared memory, or a page of global
/// memory.
class Shadow {
 public:
  /// Of shared memory a block finds nothing written when it begins.
  enum class Of : uint8_t { shared, global };

  Shadow(Of of, size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  Of of() const { return of_; }
  size_t bytes() const { return bytes_; }
  Cell* words() const { return words_; }  ///< one cell for each 4 bytes of the region
  Cell* split() const { return split_; }  ///< one cell for each byte, used where a word is split

  /// Forgets everything; only needed when the worker's epochs run out.
  void clear();

 private:
  Of of_;
  size_t bytes_;
  Cell* words_;
  Cell* split_;
};

/// Cells for what a block touches of global memory, made where it touches it.
class PagedShadow {
 public:
  static constexpr size_t kPageBytes = 1 << 14;

  /// The page of these addresses. It stays until a block begins.
  Shadow& page(uintptr_t address) {
    const uintptr_t number = address / kPageBytes;
    const Slot& slot = slots_[number % kSlots];
    return slot.number == number ? *slot.shadow : find(number);
  }

  /// Keeps no more memory than a few pages take.
  void begin_block();

  /// Forgets everything; only needed when the worker's epochs run out.
  void clear() { *this = {}; }

 private:
  static constexpr size_t kSlots = 64, kKept = 64;
  struct Slot {
    uintptr_t number = UINTPTR_MAX;
    Shadow* shadow = nullptr;
  };
  Shadow& find(uintptr_t number);

  std::array<Slot, kSlots> slots_;  // pages that are quickly found
  std::unordered_map<uintptr_t, Shadow*> pages_;
  std::vector<std::unique_ptr<Shadow>> shadows_;  // the first pages_.size() are in use; what others hold is old
};

/// Who touches memory, and when.
struct Accessor {
  AccessRecord now;      ///< what an access leaves behind
  uint32_t block_epoch;  ///< the block's first
  uintptr_t read = 0;    ///< by the running thread's last access, since it was let go on
  const WarpClock* clock;

  void set(uint32_t epoch, LaneMask lanes, int warp, const WarpClock& warp_clock) {
    clock = &warp_clock;
    read = 0;
    now = {.epoch = epoch, .stamp = warp_clock.stamp, .lanes = lanes, .warp = static_cast<uint32_t>(warp)};
  }

  /// An access's return address, and what it reads; 0 if it writes, or cannot be read in advance.
  void at(const void* code, uintptr_t address) {
    read = address;
    now.code = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(code)) & ((1u << AccessRecord::kCodeBits) - 1);
  }
};

enum class AccessKind : uint8_t { read, write, atomic_update, atomic_write, volatile_read, volatile_write };

inline bool is_atomic(AccessKind kind) { return kind == AccessKind::atomic_update || kind == AccessKind::atomic_write; }
inline bool is_write(AccessKind kind) { return kind != AccessKind::read && kind != AccessKind::volatile_read; }

/// What was wrong with an access, and the other side of a race; in_flight: a copy that its thread has not waited for.
struct ShadowResult {
  enum Kind : uint8_t { ok, uninitialized, race, in_flight } kind = ok;
  AccessRecord other{};
  bool other_was_write = false;
  /// Of a race: is it none if the access stores what is there already? `if_others_did`: if the stores before it in this
  /// interval did so, too; RedundantWords knows.
  enum class IfEqual : uint8_t { still_race, harmless, if_others_did } if_equal = IfEqual::still_race;
};

/// Remembers one lane's access to one whole word, if nothing can be wrong with it: nobody else touched the word in this
/// barrier interval (a write), or wrote it (a read; shared memory must have been written in this block). False: touch()
/// must look.
template <Shadow::Of kOf>
inline bool touch_quickly(Cell& cell, bool is_write, const Accessor& accessor) {
  const AccessRecord& now = accessor.now;
  AccessRecord& read = cell.read;
  // kSplitEpoch is never below.
  if (cell.write.epoch >= now.epoch && (!cell.write.is_beside(now) || cell.write.atomic)) return false;
  if (is_write) {
    if (read.epoch >= now.epoch && !read.is_beside(now)) return false;
    const bool again = cell.write.epoch >= now.epoch || read.epoch >= now.epoch;
    cell.write = now;
    cell.write.again = again;
    return true;
  }
  if (kOf == Shadow::Of::shared && cell.write.epoch < accessor.block_epoch) return false;
  if (read.epoch != now.epoch) {
    read = now;
  } else if (read.stamp != now.stamp) {
    return false;
  } else if (read.warp != now.warp) {
    if (!read.many_warps) read.many_warps = 1;
  } else if (read.lanes != now.lanes) {
    read.lanes |= now.lanes;
    read.collective = 0;
  }
  return true;
}

/// Checks the access to bytes [offset, offset + bytes) of the region and remembers it.
ShadowResult touch(Shadow& shadow, size_t offset, size_t bytes, AccessKind kind, const Accessor& accessor);

/// Several threads stored one value to this word or byte: later accesses, also theirs, are for touch() to look at.
void mark_redundant(Shadow& shadow, size_t offset, size_t bytes);

/// Whole words, to which the accessor has begun a copy, or has just waited for one.
void mark_in_flight(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor);
void mark_landed(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor);

}  // namespace convlab::simt::internal
