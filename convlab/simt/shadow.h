#pragma once

#include <cstddef>
#include <cstdint>

#include "convlab/warps/trace.h"

/// What simt remembers of shared memory: for each 4 bytes, who wrote and who read them last, and when.
///
/// Time is counted in barrier intervals: a worker's counter goes up at each block's start and at each __syncthreads,
/// and never goes back, so that nothing has to be cleared between blocks. Inside an interval, only __syncwarp orders
/// threads; each warp counts its own (WarpClock). Shuffles, votes and wmma wait for lanes but order no memory, as in
/// CUDA.
///
/// Where threads touch a part of a word (half, unsigned char), the word is split: its four bytes have their own cells
/// until the end of the block.
namespace convlab::simt::internal {

/// The last accesses of one kind, write or read, to one cell.
struct AccessRecord {
  uint32_t epoch = 0;  ///< barrier interval; 0: never
  uint32_t stamp = 0;  ///< the warp's clock
  LaneMask lanes = 0;  ///< of `warp`; more than one after reads or atomics by several
  uint8_t warp = 0;
  uint8_t many_warps = 0;  ///< lanes of other warps, too
  uint8_t atomic = 0;      ///< all of it by atomic operations
  uint8_t collective = 0;  ///< all of it by warp-wide operations of these lanes together (wmma)
};

struct Cell {
  AccessRecord write, read;
};
static_assert(sizeof(Cell) == 32);

/// write.epoch of a word whose bytes are kept apart; write.stamp is then the block's first epoch. Larger than any
/// epoch, so that the fast paths, which take only older epochs, leave it to the slow ones.
inline constexpr uint32_t kSplitEpoch = UINT32_MAX;

/// write.epoch of a word to which an asynchronous copy of the thread in `write` is under way; write.stamp is the block's
/// first epoch. The fast paths leave it to the slow ones, too.
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

/// Cells for one region of shared memory: the thread's static shared variables, or the dynamic shared memory.
class Shadow {
 public:
  explicit Shadow(size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  size_t bytes() const { return bytes_; }
  Cell* words() const { return words_; }  ///< one cell for each 4 bytes of the region
  Cell* split() const { return split_; }  ///< one cell for each byte, used where a word is split

  /// Forgets everything; only needed when the worker's epochs run out.
  void clear();

 private:
  size_t bytes_;
  Cell* words_;
  Cell* split_;
};

/// Who touches shared memory, and when.
struct Accessor {
  AccessRecord now;      ///< what an access leaves behind
  uint32_t block_epoch;  ///< the block's first
  const WarpClock* clock;

  void set(uint32_t epoch, LaneMask lanes, int warp, const WarpClock& warp_clock) {
    clock = &warp_clock;
    now = {epoch, warp_clock.stamp, lanes, static_cast<uint8_t>(warp), 0, 0, 0};
  }
};

enum class AccessKind : uint8_t { read, write, atomic_update, atomic_write, volatile_read, volatile_write };

inline bool is_write(AccessKind kind) { return kind != AccessKind::read && kind != AccessKind::volatile_read; }

/// What was wrong with an access, and the other side of a race; in_flight: a copy that its thread has not waited for.
struct ShadowResult {
  enum Kind : uint8_t { ok, uninitialised, race, in_flight } kind = ok;
  AccessRecord other{};
  bool other_was_write = false;
};

/// Remembers one lane's access to one whole word, if nothing can be wrong with it: the word was written in an earlier
/// barrier interval of this block (a read), or not touched in this interval (a write). False: touch() must look.
inline bool touch_quickly(Cell& cell, bool is_write, const Accessor& accessor) {
  const AccessRecord& now = accessor.now;
  if (is_write) {
    // kSplitEpoch is never below.
    if (cell.write.epoch >= now.epoch || cell.read.epoch >= now.epoch) return false;
    cell.write = now;
    return true;
  }
  if (cell.write.epoch - accessor.block_epoch >= now.epoch - accessor.block_epoch) return false;
  AccessRecord& read = cell.read;
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

/// Whole words, to which the accessor has begun a copy, or has just waited for one.
void mark_in_flight(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor);
void mark_landed(Shadow& shadow, size_t offset, size_t bytes, const Accessor& accessor);

}  // namespace convlab::simt::internal
