#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "convlab/simt/global_shadow.h"

namespace convlab::simt::internal {

/// The device's heap: see device_heap.h. Safe to call from workers.
class DeviceHeap {
 public:
  /// What one malloc() gave.
  struct Block {
    uintptr_t base = 0;
    size_t bytes = 0;
    const void* given = nullptr;     ///< return address of the malloc()
    const void* taken = nullptr;     ///< of the free(); nullptr: it is live
    uint8_t* initialised = nullptr;  ///< as of a Range
    GlobalCell* cells = nullptr;
  };

  static DeviceHeap& instance();
  void set_bytes(size_t bytes);

  /// A null pointer where the heap is full.
  void* allocate(size_t bytes, const void* code);

  /// False: nothing that allocate() gave, or freed already. The memory stays, so that a late access does no harm here.
  bool release(void* memory, const void* code);

  bool holds(uintptr_t address) const {
    const uintptr_t base = base_.load(std::memory_order_acquire);
    return base != 0 && address - base < bytes_;
  }

  /// The block at the address, live or not, otherwise the one before; nullopt where none ever was.
  std::optional<Block> block_at(uintptr_t address) const;

 private:
  struct Extent {
    size_t room = 0;  // with what is between blocks
    Block block;

    bool is_live() const { return block.given != nullptr && block.taken == nullptr; }
  };
  using Extents = std::map<uintptr_t, Extent>;  // all of the heap, by where they begin

  bool reserve();
  Extents::iterator roomy(Extents::iterator from, Extents::iterator to, size_t room);

  mutable std::mutex mutex_;
  std::atomic<uintptr_t> base_{0};  // 0: nothing is reserved
  size_t bytes_ = size_t{8} << 20;
  std::unique_ptr<uint8_t[]> initialised_;
  std::shared_ptr<GlobalCell[]> cells_;
  Extents extents_;
  uintptr_t next_ = 0;  // where the search begins: what was freed last is given last
};

}  // namespace convlab::simt::internal
