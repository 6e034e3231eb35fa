// Finds the array, argument or variable that an access to global memory belongs to.

#include "convlab/simt/site.h"

#include <algorithm>
#include <optional>

#include "convlab/simt/heap_blocks.h"
#include "convlab/simt/index_variables.h"

namespace convlab::simt::internal {
namespace {

/// Returns threadIdx, blockIdx, blockDim or gridDim of this OS thread if it contains the address; otherwise nullptr.
const void* index_variable_at(uintptr_t address) {
  for (const cuda::uint3* each : {&thread_index, &block_index, &block_extent, &grid_extent}) {
    if (address - reinterpret_cast<uintptr_t>(each) < sizeof(*each)) return each;
  }
  return nullptr;
}

}  // namespace

SiteEntry accessible_memory(const Grid& grid, uintptr_t address, size_t bytes, bool writes, FaultKind& wrong) {
  wrong = FaultKind::out_of_bounds_global;
  SiteEntry found;
  const Range* const range = range_at(*grid.ranges, address);
  if (const DeviceHeap& heap = DeviceHeap::instance(); heap.holds(address)) {
    const std::optional<DeviceHeap::Block> block = heap.block_at(address);
    if (block && block->taken == nullptr && bytes <= block->bytes - std::min(address - block->base, block->bytes)) {
      found = {block->base, block->bytes, block->initialized, grid.races.checked() ? block->cells : nullptr};
    }
  } else if (range && bytes <= range->bytes - (address - range->base)) {
    if (!writes || range->writable) {
      found = {range->base, range->bytes, range->initialized.get(),
               grid.races.checked() ? range->cells.get() : nullptr};
    }
  } else if (const uintptr_t arguments = reinterpret_cast<uintptr_t>(grid.call.arguments);
             !writes && address - arguments < grid.call.argument_bytes) {
    found = {arguments, grid.call.argument_bytes, nullptr, nullptr};
  } else if (const void* const index = index_variable_at(address); index != nullptr && !writes) {
    found = {reinterpret_cast<uintptr_t>(index), sizeof(cuda::uint3), nullptr, nullptr};  // clang++ instruments it
  } else if (const Module::Segment* segment = grid.module->segment_at(address);
             segment && !writes && !segment->writable) {
    found = {segment->base, segment->bytes, nullptr, nullptr};
  } else if (segment && segment->writable) {
    // A __device__ or __constant__ variable. If the program has symbols, they separate it from its neighbors.
    const Symbol* const symbol = grid.module->object_at(address);
    if (symbol && grid.apart && grid.module->is_host_variable(*symbol)) {
      wrong = FaultKind::host_memory;
      return {};
    }
    if (symbol) {
      found = {symbol->begin + grid.module->bias(), symbol->bytes, nullptr, nullptr};
      if (bytes > found.bytes - (address - found.base)) found.bytes = 0;
    } else if (!grid.module->has_symbols()) {
      found = {segment->base, segment->bytes, nullptr, nullptr};
    }
    if (writes && grid.module->is_constant(address)) found.bytes = 0;
    if (found.bytes > 0 && grid.races.checked()) found.cells = cells_of_variable(found.base, found.bytes);
  }
  return found;
}

}  // namespace convlab::simt::internal
