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

/// The device heap: see device_heap.h. Thread-safe.
class DeviceHeap {
 public:
  /// One allocation by malloc().
  struct Block {
    uintptr_t base = 0;
    size_t bytes = 0;
    const void* given = nullptr;     ///< return address of the malloc()
    const void* taken = nullptr;     ///< return address of the free(); nullptr: not freed
    uint8_t* initialized = nullptr;  ///< as in Range
    GlobalCell* cells = nullptr;
  };

  static DeviceHeap& instance();
  void set_bytes(size_t bytes);

  /// Returns nullptr if the heap is full.
  void* allocate(size_t bytes, const void* code);

  /// Returns false if allocate() did not return this pointer or it is already free. The memory stays mapped, so that a
  /// late access does no harm here.
  bool release(void* memory, const void* code);

  bool holds(uintptr_t address) const {
    const uintptr_t base = base_.load(std::memory_order_acquire);
    return base != 0 && address - base < bytes_;
  }

  /// Returns the block at the address, freed or not, otherwise the nearest one before it; nullopt if there never was
  /// one.
  std::optional<Block> block_at(uintptr_t address) const;

 private:
  struct Extent {
    size_t room = 0;  // including the gap after the block
    Block block;

    bool is_live() const { return block.given != nullptr && block.taken == nullptr; }
  };
  using Extents = std::map<uintptr_t, Extent>;  // all of the heap, by start address

  bool reserve();
  Extents::iterator roomy(Extents::iterator from, Extents::iterator to, size_t room);

  mutable std::mutex mutex_;
  std::atomic<uintptr_t> base_{0};  // 0: the heap is not reserved yet
  size_t bytes_ = size_t{8} << 20;
  std::unique_ptr<uint8_t[]> initialised_;
  std::shared_ptr<GlobalCell[]> cells_;
  Extents extents_;
  uintptr_t next_ = 0;  // where the next search begins, so that memory freed last is reused last
};

}  // namespace convlab::simt::internal
