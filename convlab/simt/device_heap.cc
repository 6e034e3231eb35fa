// malloc() and free(), new and delete of kernel files: the linker redirects them here (kernel_file/compiler.cc).

#include "convlab/simt/device_heap.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "convlab/simt/execution.h"
#include "convlab/simt/host_arrays.h"

namespace convlab::simt {

void set_device_heap_bytes(size_t bytes) { internal::DeviceHeap::instance().set_bytes(bytes); }

namespace internal {
namespace {

constexpr size_t kAlignment =
    16;  // as in CUDA; the same gap follows each block, so that an access just past its end is in no block
constexpr size_t kMostBytes = size_t{1} << 32;

size_t rounded(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

void* allocate(size_t bytes, const void* code) {
  Worker* const worker = active_worker;
  if (!worker) return allocate_host_array(bytes);
  const HostScope host;
  return worker->allocate_on_heap(bytes, code);
}

void* allocate_or_throw(size_t bytes, const void* code) {
  void* const memory = allocate(bytes, code);
  if (memory == nullptr && !active_worker) throw std::bad_alloc();
  return memory;
}

void release(void* memory, const void* code) {
  Worker* const worker = active_worker;
  if (!worker) return release_host_array(memory);
  if (memory == nullptr) return;
  const HostScope host;
  worker->release_on_heap(memory, code);
}

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

void* Worker::allocate_on_heap(size_t bytes, const void* code) {
  if (attention) settle_stores();
  void* const memory = DeviceHeap::instance().allocate(bytes, code);
  // Another thread of this block may have used and freed the memory.
  const auto base = reinterpret_cast<uintptr_t>(memory);
  for (size_t done = 0; memory != nullptr && done < bytes; done += 4) {
    block_shadow.page(base + done).words()[(base + done) % PagedShadow::kPageBytes / 4] = {};
  }
  return memory;
}

void Worker::release_on_heap(void* memory, const void* code) {
  if (attention) settle_stores();
  if (!DeviceHeap::instance().release(memory, code)) {
    RawFault fault;
    fault.kind = FaultKind::out_of_bounds_global;
    fault.code = code;
    fault.detail = "malloc() of a kernel did not return this pointer, or it is already free";
    fail(std::move(fault));
  }
  forget_sites();
}

}  // namespace internal
}  // namespace convlab::simt

// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
using namespace convlab::simt::internal;

void* __wrap_malloc(size_t bytes) { return allocate(bytes, __builtin_return_address(0)); }
void __wrap_free(void* memory) { release(memory, __builtin_return_address(0)); }
// operator new and new[], delete and delete[] with and without a size.
void* __wrap__Znwm(size_t bytes) { return allocate_or_throw(bytes, __builtin_return_address(0)); }
void* __wrap__Znam(size_t bytes) { return allocate_or_throw(bytes, __builtin_return_address(0)); }
void __wrap__ZdlPv(void* memory) { release(memory, __builtin_return_address(0)); }
void __wrap__ZdaPv(void* memory) { release(memory, __builtin_return_address(0)); }
void __wrap__ZdlPvm(void* memory, size_t) { release(memory, __builtin_return_address(0)); }
void __wrap__ZdaPvm(void* memory, size_t) { release(memory, __builtin_return_address(0)); }
}
// NOLINTEND(bugprone-reserved-identifier)
