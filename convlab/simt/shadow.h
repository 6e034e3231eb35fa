#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "convlab/simt/thread_clocks.h"
#include "convlab/simt/warp_clock.h"

/// Shadow memory for the threads of one block, to detect their races on shared and global memory. For each 4 bytes it
/// records the last write and the last reads: which threads, and when.
///
/// An epoch is one barrier interval. A worker increments its epoch at each block's start and at each __syncthreads and
/// never decreases it, so shadow memory need not be cleared between blocks. Within an epoch, only __syncwarp orders
/// threads; each warp has its own clock (WarpClock). Shuffles, votes, and wmma synchronize lanes but order no memory,
/// as in CUDA. ThreadClocks tracks what releases and acquires order.
///
/// If threads access a part of a word (half, unsigned char), the word is split: its four bytes have their own cells
/// until the end of the block.
namespace convlab::simt::internal {

struct Cell {
  AccessRecord write, read;
};
static_assert(sizeof(Cell) == 32);

/// write.epoch of a word whose bytes have their own cells; write.stamp is then the block's first epoch. Larger than any
/// epoch: the fast paths accept only older epochs, so they leave it to touch().
inline constexpr uint32_t kSplitEpoch = UINT32_MAX;

/// write.epoch of a word that an asynchronous copy of the thread in `write` is filling; write.stamp is the block's
/// first epoch. The fast paths leave it to touch(), too.
inline constexpr uint32_t kInFlightEpoch = UINT32_MAX - 1;

/// Shadow cells for one region of memory: the thread's static shared variables, the dynamic shared memory, or a page of
/// global memory.
class Shadow {
 public:
  /// Shared memory is uninitialized when a block begins; global memory keeps its values.
  enum class Of : uint8_t { shared, global };

  Shadow(Of of, size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  Of of() const { return of_; }
  size_t bytes() const { return bytes_; }
  Cell* words() const { return words_; }  ///< one cell per 4 bytes of the region
  Cell* split() const { return split_; }  ///< one cell per byte, used for split words

  /// Clears all cells; needed only when the worker's epochs are exhausted.
  void clear();

 private:
  Of of_;
  size_t bytes_;
  Cell* words_;
  Cell* split_;
};

/// Shadow cells for the global memory that a block accesses, created on first access.
class PagedShadow {
 public:
  static constexpr size_t kPageBytes = 1 << 14;

  /// Returns the page of these addresses. It stays valid until the next block begins.
  Shadow& page(uintptr_t address) {
    const uintptr_t number = address / kPageBytes;
    const Slot& slot = slots_[number % kSlots];
    return slot.number == number ? *slot.shadow : find(number);
  }

  /// Drops pages that recent blocks did not need, to bound memory use.
  void begin_block();

  /// Clears all cells; needed only when the worker's epochs are exhausted.
  void clear() { *this = {}; }

 private:
  static constexpr size_t kSlots = 64, kKept = 64;
  struct Slot {
    uintptr_t number = UINTPTR_MAX;
    Shadow* shadow = nullptr;
  };
  Shadow& find(uintptr_t number);

  std::array<Slot, kSlots> slots_;  // direct-mapped cache of pages
  std::unordered_map<uintptr_t, Shadow*> pages_;
  size_t needed_ = 0;                             // about the most pages that one of the last blocks used
  std::vector<std::unique_ptr<Shadow>> shadows_;  // the first pages_.size() are in use; cells of the others are stale
};

/// The accessing thread and its current time.
struct Accessor {
  AccessRecord now;      ///< the record that an access leaves
  uint32_t block_epoch;  ///< the block's first epoch
  uintptr_t read = 0;    ///< address that the running thread's last access read, since it was resumed
  const WarpClock* clock;
  const ThreadClocks* clocks;

  void set(uint32_t epoch, int lane, int warp, const WarpClock& warp_clock) {
    clock = &warp_clock;
    read = 0;
    now = {
        .epoch = epoch, .stamp = warp_clock.stamp_of(lane), .lanes = 1u << lane, .warp = static_cast<uint32_t>(warp)};
  }

  /// Sets the return address of an access, and the address that it reads; 0 if it writes or cannot be read in advance.
  void at(const void* code, uintptr_t address) {
    read = address;
    now.code = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(code)) & ((1u << AccessRecord::kCodeBits) - 1);
  }
};

/// `plain_update`: what an atomic operation is for threads outside of its scope.
enum class AccessKind : uint8_t {
  read,
  write,
  atomic_update,
  atomic_write,
  volatile_read,
  volatile_write,
  plain_update
};

inline bool is_atomic(AccessKind kind) { return kind == AccessKind::atomic_update || kind == AccessKind::atomic_write; }
inline bool is_write(AccessKind kind) { return kind != AccessKind::read && kind != AccessKind::volatile_read; }
inline bool is_plain(AccessKind kind) {
  return kind == AccessKind::read || kind == AccessKind::write || kind == AccessKind::plain_update;
}
inline AccessKind outside_of_scope(AccessKind kind) {
  return is_plain(kind) ? kind : is_write(kind) ? AccessKind::plain_update : AccessKind::read;
}

/// The fault of an access, and the other side of a race. in_flight: the other side is an asynchronous copy that its
/// thread has not waited for.
struct ShadowResult {
  enum Kind : uint8_t { ok, uninitialized, race, in_flight } kind = ok;
  AccessRecord other{};
  bool other_was_write = false;
  /// Race: whether it is harmless if the access stores the value that is already there. `if_others_did`: only if the
  /// earlier stores of this epoch did so, too, which RedundantWords knows.
  enum class IfEqual : uint8_t { still_race, harmless, if_others_did } if_equal = IfEqual::still_race;
};

/// Fast path: records one lane's access to a whole word if it cannot be a fault. For a write, no other thread has
/// accessed the word in this epoch; for a read, no other thread has written it in this epoch, and shared memory was
/// written in this block. Returns false if touch() must check the access.
template <Shadow::Of kOf>
inline bool touch_quickly(Cell& cell, bool is_write, const Accessor& accessor) {
  const AccessRecord& now = accessor.now;
  AccessRecord& read = cell.read;
  // This also rejects kSplitEpoch, which is never below.
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

/// Checks the access to bytes [offset, offset + bytes) of the region and records it.
ShadowResult touch(Shadow& shadow, size_t offset, size_t bytes, AccessKind kind, const Accessor& accessor);

/// Marks a word or byte to which several threads stored one value: touch() must check all later accesses, including
/// theirs.
void mark_redundant(Shadow& shadow, size_t offset, size_t bytes);

/// Marks whole words to which the accessor has started a copy, or whose copy it has just waited for.
void mark_in_flight(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor);
void mark_landed(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor);

}  // namespace convlab::simt::internal
