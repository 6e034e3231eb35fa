// Sums up the counts of a launch by source line, array and branch.

#include "convlab/simt/grid_counts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "convlab/base/symbol.h"
#include "convlab/warps/machine_code.h"

namespace convlab::simt::internal {
namespace {

std::string array_of(const Grid& grid, const CodeCounts::Access& access) {
  if (access.is_dynamic) return "dynamic shared memory";
  const Symbol* symbol = nullptr;
  if (access.space == MemorySpace::shared) {
    symbol = grid.shared_arrays->nearest(static_cast<int64_t>(access.at));
  } else {
    const Range* const range = nearest_range(*grid.ranges, access.at);
    if (range && access.at - range->base < range->bytes && !range->name.empty()) return range->name;
    symbol = grid.module->object_at(access.at);
  }
  return symbol ? short_symbol(symbol->mangled) : "";
}

/// Returns where the array of a global memory access begins; 0 if unknown.
uintptr_t begin_of_array(const Grid& grid, uintptr_t address) {
  const Range* const range = nearest_range(*grid.ranges, address);
  if (range && address - range->base < range->bytes && !range->name.empty()) return range->base;
  const Symbol* const symbol = grid.module->object_at(address);
  return symbol ? symbol->begin + grid.module->bias() : 0;
}

/// Returns the request with offsets from where its array begins, or from its own first sector if that is unknown.
ExampleRequest example_of(const Grid& grid, const CodeCounts::Access& access) {
  ExampleRequest example = access.example;
  if (access.space == MemorySpace::shared) return example;
  const uintptr_t array = begin_of_array(grid, access.example_at);
  int64_t begin = static_cast<int64_t>(array);
  if (array == 0) {
    begin = INT64_MAX;
    for_each_lane(example.lanes,
                  [&](int lane) { begin = std::min(begin, example.offsets[static_cast<size_t>(lane)]); });
  }
  begin = begin / kSectorBytes * kSectorBytes;
  for_each_lane(example.lanes, [&](int lane) { example.offsets[static_cast<size_t>(lane)] -= begin; });
  return example;
}

int64_t bytes_of(const Grid& grid, const std::string& array) {
  int64_t bytes = 0;
  for (const auto& range : *grid.ranges) {
    if (range->name == array) bytes += static_cast<int64_t>(range->bytes);
  }
  return bytes;
}

std::vector<LineCounts> lines_of(const Grid& grid) {
  std::map<std::tuple<std::string, std::string, MemorySpace, AccessType, int>, LineCounts> lines;
  for (const auto& [key, access] : grid.counts.accesses) {
    const auto* const code = CodeCounts::code_of(key);
    const AccessType type = type_of(CodeCounts::kind_of(key));
    const std::string array = array_of(grid, access);
    const std::string where = grid.module->where(code);
    lines[{where, array, access.space, type, access.bytes}] += {
        where, array, access.space, type, access.bytes, access.counts, example_of(grid, access), bytes_of(grid, array)};
  }
  std::vector<LineCounts> result;
  for (auto& [key, line] : lines) {
    std::tie(line.where, line.array, line.space, line.type, line.access_bytes) = key;
    result.push_back(std::move(line));
  }
  return result;
}

// Returns the end of the function that contains the code; nullptr if it has no symbol.
const void* end_of_function(const Grid& grid, const void* code) {
  const Symbol* const function = grid.module->function_at(reinterpret_cast<uintptr_t>(code));
  if (!function) return nullptr;
  return reinterpret_cast<const void*>(function->begin + function->bytes + grid.module->bias());
}

// Returns how many warps executed the code at this address.
int64_t warps_at(const CodeCounts& counts, const void* code) {
  if (const auto block = counts.blocks.find(code); block != counts.blocks.end()) return block->second.warps;
  for (const EventKind kind : {EventKind::read, EventKind::write, EventKind::atomic}) {
    const auto access = counts.accesses.find(CodeCounts::key_of(kind, code));
    if (access != counts.accesses.end()) return access->second.counts.requests;
  }
  return 0;
}

std::vector<BranchCounts> branches_of(const Grid& grid) {
  std::map<std::string, BranchCounts> branches;
  for (const auto& [code, diverged] : grid.counts.diverged) {
    // The block that the branch ends may begin many lines before it.
    const void* const condition = end_of_condition(code, end_of_function(grid, code));
    BranchCounts& branch = branches[grid.module->where(condition != nullptr ? condition : code)];
    branch.warps += warps_at(grid.counts, code);
    branch.diverged += diverged;
  }
  std::vector<BranchCounts> result;
  for (auto& [where, branch] : branches) {
    branch.where = where;
    result.push_back(std::move(branch));
  }
  return result;
}

void add_blocks(const Grid& grid, KernelCounts& kernel) {
  for (const auto& [code, block] : grid.counts.blocks) {
    kernel.blocks += block.warps;
    kernel.lanes += block.lanes;
    const void* const end = end_of_function(grid, code);
    if (end == nullptr) continue;
    const BlockCode work = block_code(code, end).value_or(BlockCode{});
    kernel.flops += block.lanes * work.float_operations;
    kernel.instructions += block.warps * work.instructions;
  }
  for (const auto& [key, access] : grid.counts.accesses) kernel.instructions += access.counts.requests;
  kernel.instructions += grid.counts.matrix_instructions;
  kernel.tf32_flops = grid.counts.tf32_flops;
  kernel.half_flops = grid.counts.half_flops;
  kernel.flops += kernel.tf32_flops + kernel.half_flops + grid.counts.fused_flops;
}

}  // namespace

std::optional<KernelCounts> counts_of(const Grid& grid) {
  if (grid.counts.blocks.empty()) return std::nullopt;
  KernelCounts kernel;
  kernel.kernel = grid.kernel_name();
  kernel.grid = {grid.grid.x, grid.grid.y, grid.grid.z};
  kernel.block = {grid.block.x, grid.block.y, grid.block.z};
  kernel.static_shared_bytes = grid.kernel ? grid.module->static_shared_bytes(*grid.kernel) : 0;
  kernel.dynamic_shared_bytes = grid.shared_bytes;
  kernel.launches = 1;
  kernel.warps = grid.blocks * ((grid.block_threads + kWarpSize - 1) / kWarpSize);
  kernel.lines = lines_of(grid);
  kernel.branches = branches_of(grid);
  add_blocks(grid, kernel);
  kernel.sort();
  return kernel;
}

}  // namespace convlab::simt::internal
