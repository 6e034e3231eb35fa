// Allocates and frees the memory of the device heap.

#include "convlab/simt/heap_blocks.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace convlab::simt::internal {
namespace {

constexpr size_t kAlignment =
    16;  // as in CUDA; the same gap follows each block, so that an access just past its end is in no block
constexpr size_t kMostBytes = size_t{1} << 32;

size_t rounded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

}  // namespace

DeviceHeap& DeviceHeap::instance() {
  static DeviceHeap& heap = *new DeviceHeap;  // never destroyed: kernels and host code may still use its memory
  return heap;
}

void DeviceHeap::set_bytes(size_t bytes) {
  std::lock_guard lock(mutex_);
  if (extents_.empty()) bytes_ = std::min(rounded(std::max<size_t>(bytes, kAlignment)), kMostBytes);
}

bool DeviceHeap::reserve() {
  void* const memory =
      mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  initialised_ = std::make_unique<uint8_t[]>(bytes_ / 4);
  cells_ = make_global_cells(bytes_);
  next_ = reinterpret_cast<uintptr_t>(memory);
  extents_[next_] = {.room = bytes_, .block = {}};
  base_.store(next_, std::memory_order_release);
  return true;
}

// Returns the first free extent with this much room, after merging it with the free ones that follow it.
DeviceHeap::Extents::iterator DeviceHeap::roomy(Extents::iterator from, Extents::iterator to, size_t room) {
  for (auto at = from; at != to; ++at) {
    if (at->second.is_live()) continue;
    auto after = std::next(at);
    while (at->second.room < room && after != to && !after->second.is_live()) {
      at->second.room += after->second.room;
      after = extents_.erase(after);
    }
    if (at->second.room >= room) return at;
  }
  return extents_.end();
}

void* DeviceHeap::allocate(size_t bytes, const void* code) {
  std::lock_guard lock(mutex_);
  if (bytes >= bytes_ || (extents_.empty() && !reserve())) return nullptr;
  const size_t room = rounded(std::max<size_t>(bytes, 1)) + kAlignment;
  auto found = roomy(extents_.lower_bound(next_), extents_.end(), room);
  if (found == extents_.end()) found = roomy(extents_.begin(), extents_.end(), room);
  if (found == extents_.end()) return nullptr;
  auto& [base, extent] = *found;
  if (extent.room > room) extents_[base + room] = {.room = extent.room - room, .block = extent.block};
  const size_t word = (base - base_) / 4;
  extent = {.room = room,
            .block = {.base = base,
                      .bytes = bytes,
                      .given = code,
                      .initialized = initialised_.get() + word,
                      .cells = cells_.get() + word}};
  next_ = base + room;
  void* const memory = reinterpret_cast<void*>(base);
  std::memset(memory, 0xff, bytes);
  std::memset(extent.block.initialized, 0, room / 4);
  forget(extent.block.cells, room - kAlignment);
  return memory;
}

bool DeviceHeap::release(void* memory, const void* code) {
  std::lock_guard lock(mutex_);
  const auto found = extents_.find(reinterpret_cast<uintptr_t>(memory));
  if (found == extents_.end() || !found->second.is_live()) return false;
  found->second.block.taken = code;
  return true;
}

std::optional<DeviceHeap::Block> DeviceHeap::block_at(uintptr_t address) const {
  std::lock_guard lock(mutex_);
  const auto above = extents_.upper_bound(address);
  if (above == extents_.begin()) return std::nullopt;
  const Block& block = std::prev(above)->second.block;
  return block.given == nullptr ? std::nullopt : std::optional(block);
}

}  // namespace convlab::simt::internal
