#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "convlab/simt/global_shadow.h"
#include "convlab/simt/kernel_call.h"
#include "convlab/simt/shadow.h"

/// Redundant writes: stores that race with others but change nothing, because they store the value that is already
/// there, for example when a grid is too large. A hook runs before its store, so simt holds a racing store until the
/// thread's next hook. Then memory shows whether the store changed anything.
namespace convlab::simt::internal {

/// A word or a part of one that a store is about to write, and its bytes before the store.
struct HeldPart {
  uintptr_t address = 0;
  size_t bytes = 0;
  std::array<unsigned char, 4> before{};

  // If the other side is a thread of the block:
  Shadow* shadow = nullptr;
  size_t offset = 0;     ///< in `shadow`
  AccessRecord other{};  ///< the earlier write

  // If the other side is another block:
  GlobalCell* cell = nullptr;
  unsigned mask = 0;  ///< bytes of the cell's word

  bool is_unchanged() const;
};

/// Returns the part with its current bytes.
HeldPart held_part(uintptr_t address, size_t bytes);

/// Words and bytes to which several threads of a block stored one value in a barrier interval.
class RedundantWords {
 public:
  struct Word {
    std::bitset<kMaxBlockThreads> writers;
    int stores = 0;     ///< by different threads, or by whole warps with wmma
    bool once = false;  ///< no writer accessed it earlier in this interval, so none can see another value
  };

  /// Returns nullptr if the whole word, or the byte, is not known in this epoch.
  const Word* find(uintptr_t address, size_t bytes, uint32_t epoch) const;

  /// Records the store of these lanes and the earlier store that it raced with.
  const Word& add(const HeldPart& part, uint32_t warp, LaneMask lanes, uint32_t epoch);

  /// Returns whether the thread, which reads these bytes, has stored the value and can see no other.
  bool may_be_read_by(size_t thread, uintptr_t address, size_t bytes, uint32_t epoch) const;

 private:
  static uintptr_t key(uintptr_t address, size_t bytes) { return address << 1 | (bytes == 4 ? 1 : 0); }

  uint32_t epoch_ = 0;
  std::unordered_map<uintptr_t, Word> words_;
};

/// How many blocks of a launch stored one value to each word. Once kMostWords words are known, no others are added.
class RedundantBlocks {
 public:
  void add(uintptr_t address, int64_t block);
  int64_t count(uintptr_t address) const;

 private:
  static constexpr size_t kMostWords = 1 << 16;
  struct Word {
    int64_t blocks = 1, last = -1;
  };
  mutable std::mutex mutex_;
  std::unordered_map<uintptr_t, Word> words_;
};

/// A worker's store in flight: its hook has returned. simt knows that it has completed at the thread's next hook.
class StoreUnderWay {
 public:
  /// Adds bytes to the store.
  void extend(uintptr_t begin, uintptr_t end);
  void landed() { begin_.store(0, std::memory_order_release); }
  bool covers(uintptr_t address) const {
    const uintptr_t begin = begin_.load(std::memory_order_acquire);
    return begin != 0 && begin <= address && address < end_.load(std::memory_order_acquire);
  }

 private:
  friend class StoresUnderWay;

  std::atomic<uintptr_t> begin_{0}, end_{0};  // 0: there is none
  std::atomic<uint64_t> turn_{0};             // position in the order in which stores began to wait; 0: not waiting yet
  std::atomic<bool> waits_{false};
};

/// The stores in flight of all workers of a launch.
class StoresUnderWay {
 public:
  void join(const StoreUnderWay& store);
  void leave(const StoreUnderWay& store);

  /// Waits until no other store to `address` is in flight. Of stores that wait for each other, the first to wait
  /// proceeds first.
  void wait_for(uintptr_t address, StoreUnderWay& own);

 private:
  std::mutex mutex_;
  std::vector<const StoreUnderWay*> stores_;
  uint64_t last_turn_ = 0;
};

}  // namespace convlab::simt::internal
