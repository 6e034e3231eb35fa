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
#include "convlab/simt/launch.h"
#include "convlab/simt/shadow.h"

/// Stores that race with others and change nothing, since they store what is there already: a grid that is too large,
/// say. A store is known when it is over, so what races is held until simt's hooks hear of its thread again. Then
/// memory tells.
namespace convlab::simt::internal {

/// A word or a part of one that a store is about to write, and what is there before.
struct HeldPart {
  uintptr_t address = 0;
  size_t bytes = 0;
  std::array<unsigned char, 4> before{};

  // Where the block's own threads are the other side:
  Shadow* shadow = nullptr;
  size_t offset = 0;     ///< there
  AccessRecord other{};  ///< the write before

  // Where it is another block:
  GlobalCell* cell = nullptr;
  unsigned mask = 0;  ///< bytes of the cell's word

  bool is_unchanged() const;
};

/// The part's bytes as they are now.
HeldPart held_part(uintptr_t address, size_t bytes);

/// Words and bytes to which several threads of a block stored one value in a barrier interval.
class RedundantWords {
 public:
  struct Word {
    std::bitset<kMaxBlockThreads> writers;
    int stores = 0;     ///< of different threads, or of whole warps by wmma
    bool once = false;  ///< none of them touched it before in this interval: they can see no other value
  };

  /// nullptr if the whole word, or the byte, is not known in this interval.
  const Word* find(uintptr_t address, size_t bytes, uint32_t epoch) const;

  /// Remembers the store of these lanes, and what it met.
  const Word& add(const HeldPart& part, uint32_t warp, LaneMask lanes, uint32_t epoch);

  /// Whether the thread, which reads these bytes, has stored that value and can see no other.
  bool may_be_read_by(size_t thread, uintptr_t address, size_t bytes, uint32_t epoch) const;

 private:
  static uintptr_t key(uintptr_t address, size_t bytes) { return address << 1 | (bytes == 4 ? 1 : 0); }

  uint32_t epoch_ = 0;
  std::unordered_map<uintptr_t, Word> words_;
};

/// Of a launch: how many blocks stored one value to a word. Beyond many words it counts no more new ones.
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

/// The store that a worker's thread has been let do, until simt hears of the thread again: then it has landed.
class StoreUnderWay {
 public:
  /// More bytes of it.
  void extend(uintptr_t begin, uintptr_t end);
  void landed() { begin_.store(0, std::memory_order_release); }
  bool covers(uintptr_t address) const {
    const uintptr_t begin = begin_.load(std::memory_order_acquire);
    return begin != 0 && begin <= address && address < end_.load(std::memory_order_acquire);
  }

 private:
  friend class StoresUnderWay;

  std::atomic<uintptr_t> begin_{0}, end_{0};  // 0: there is none
  std::atomic<uint64_t> turn_{0};             // in the order in which stores began to wait; 0: it has not
  std::atomic<bool> waits_{false};
};

/// Those of all workers of a launch.
class StoresUnderWay {
 public:
  void join(const StoreUnderWay& store);
  void leave(const StoreUnderWay& store);

  /// Returns when no other store there is about to land. Of stores that wait for each other the first to wait goes
  /// first.
  void wait_for(uintptr_t address, StoreUnderWay& own);

 private:
  std::mutex mutex_;
  std::vector<const StoreUnderWay*> stores_;
  uint64_t last_turn_ = 0;
};

}  // namespace convlab::simt::internal
