// malloc() and free(), new and delete of kernel files: the linker redirects them here (kernel_file/compiler.cc).

#include "convlab/simt/device_heap.h"

#include <cstdint>
#include <new>
#include <utility>

#include "convlab/simt/heap_blocks.h"
#include "convlab/simt/host_arrays.h"
#include "convlab/simt/worker.h"

namespace convlab::simt {

void set_device_heap_bytes(size_t bytes) { internal::DeviceHeap::instance().set_bytes(bytes); }

namespace internal {
namespace {

void* allocate_in_kernel(Worker& worker, size_t bytes, const void* code) {
  if (worker.attention) worker.settle_stores();
  void* const memory = DeviceHeap::instance().allocate(bytes, code);
  // Another thread of this block may have used and freed the memory.
  const auto base = reinterpret_cast<uintptr_t>(memory);
  for (size_t done = 0; memory != nullptr && done < bytes; done += 4) {
    worker.block_shadow.page(base + done).words()[(base + done) % PagedShadow::kPageBytes / 4] = {};
  }
  return memory;
}

void release_in_kernel(Worker& worker, void* memory, const void* code) {
  if (worker.attention) worker.settle_stores();
  if (!DeviceHeap::instance().release(memory, code)) {
    RawFault fault;
    fault.kind = FaultKind::out_of_bounds_global;
    fault.code = code;
    fault.headline = "invalid free() in a kernel";
    fault.detail = "malloc() of a kernel did not return this pointer, or it is already free";
    worker.fail(std::move(fault));
  }
  worker.forget_sites();
}

void* allocate(size_t bytes, const void* code) {
  Worker* const worker = active_worker;
  if (!worker) return allocate_host_array(bytes);
  const HostScope host;
  return allocate_in_kernel(*worker, bytes, code);
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
  release_in_kernel(*worker, memory, code);
}

}  // namespace
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
