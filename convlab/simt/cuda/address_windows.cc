// Converts addresses of shared memory.

#include "convlab/simt/cuda/address_windows.h"

#include "convlab/simt/worker.h"

namespace convlab::simt {
namespace {

// Where the window has static and dynamic shared memory. Offsets in a page are those of the pointers, so that addresses
// are as much aligned.
constexpr uintptr_t kPage = 4096;
constexpr uint64_t kStatic = uint64_t{1} << 24, kDynamic = uint64_t{1} << 25;

uint64_t begin_of(const internal::SharedRegion& region, uint64_t window) { return window + region.base % kPage; }

}  // namespace

uint32_t shared_address_of(const void* pointer) noexcept {
  const internal::Worker* const worker = internal::active_worker;
  if (worker == nullptr) return 0;
  const auto at = reinterpret_cast<uintptr_t>(pointer);
  const internal::SharedRegion &fixed = worker->static_shared, &dynamic = worker->dynamic_shared;
  if (at - fixed.base < fixed.span) return static_cast<uint32_t>(begin_of(fixed, kStatic) + (at - fixed.base));
  if (at - dynamic.base < dynamic.span) return static_cast<uint32_t>(begin_of(dynamic, kDynamic) + (at - dynamic.base));
  return 0;
}

void* shared_pointer_at(uint64_t address) noexcept {
  const internal::Worker* const worker = internal::active_worker;
  if (worker == nullptr) return nullptr;
  const bool is_dynamic = address >= kDynamic;
  const internal::SharedRegion& region = is_dynamic ? worker->dynamic_shared : worker->static_shared;
  const uint64_t offset = address - begin_of(region, is_dynamic ? kDynamic : kStatic);
  return offset < region.span ? reinterpret_cast<void*>(region.base + offset) : nullptr;
}

}  // namespace convlab::simt
