// Finds the memory space of an address, as the running thread sees it.

#include "convlab/simt/cuda/memory_spaces.h"

#include <cstdint>

#include "convlab/simt/worker.h"

namespace convlab::simt {

AddressSpace space_of(const void* address) noexcept {
  internal::Worker* const worker = internal::active_worker;
  if (!worker || !address) return AddressSpace::none;
  const internal::HostScope host;
  const auto at = reinterpret_cast<uintptr_t>(address);
  const auto is_in = [&](const internal::SharedRegion& region) { return at - region.base < region.span; };
  if (is_in(worker->static_shared) || is_in(worker->dynamic_shared)) return AddressSpace::shared;
  if (at - worker->stack_base < internal::HookState::kStackBytes) return AddressSpace::local;
  const internal::Grid& grid = *worker->grid;
  return grid.module && grid.module->is_constant(at) ? AddressSpace::constant : AddressSpace::global;
}

}  // namespace convlab::simt
