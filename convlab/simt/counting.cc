// Counts memory requests, branches, and operations of kernels while simt runs them.

#include "convlab/simt/counting.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "convlab/base/symbol.h"
#include "convlab/simt/execution.h"
#include "convlab/warps/machine_code.h"

namespace convlab::simt {
namespace {

std::atomic<bool> counting{false};
std::mutex mutex;
std::vector<KernelCounts> kept;
int64_t filled = 0;

AccessType type_of(EventKind kind) {
  if (kind == EventKind::atomic) return AccessType::atomic;
  return kind == EventKind::write ? AccessType::store : AccessType::load;
}

}  // namespace

void start_counting() {
  std::lock_guard lock(mutex);
  kept.clear();
  filled = 0;
  counting = true;
}

int64_t filled_bytes() {
  std::lock_guard lock(mutex);
  return filled;
}

std::vector<KernelCounts> stop_counting() {
  std::lock_guard lock(mutex);
  counting = false;
  return std::exchange(kept, {});
}

namespace internal {

CodeCounts::Access MemoryMap::place_of(uintptr_t address) const {
  CodeCounts::Access place;
  place.at = address;
  place.space = MemorySpace::shared;
  place.is_dynamic = address - dynamic_shared < dynamic_bytes;
  if (place.is_dynamic) return place;
  if (address - static_shared < static_bytes) {
    place.at -= static_shared;
    return place;
  }
  const Range* const range = nearest_range(*ranges, address);
  const Module::Segment* const segment = module->segment_at(address);
  // Ranges without a name are constants set from the host; other constants have their values from the file.
  const bool inside = range && address - range->base < range->bytes;
  const bool is_constant =
      inside ? range->name.empty() : module->is_constant(address) || (segment && !segment->writable);
  place.space = is_constant ? MemorySpace::constant : MemorySpace::global;
  return place;
}

void CodeCounts::add(const CodeCounts& other) {
  for (const auto& [key, access] : other.accesses) {
    Access& sum = accesses[key];
    const Access before = sum;
    sum = access;
    sum.counts += before.counts;
    if (sum.example.gives_way_to(before.example)) sum.example = before.example;
  }
  for (const auto& [code, block] : other.blocks) {
    blocks[code].warps += block.warps;
    blocks[code].lanes += block.lanes;
  }
  for (const auto& [code, count] : other.diverged) diverged[code] += count;
  tf32_flops += other.tf32_flops;
  half_flops += other.half_flops;
  fused_flops += other.fused_flops;
  matrix_instructions += other.matrix_instructions;
}

void Counting::begin_block(int threads) {
  threads_ = threads;
  lanes_.resize(std::max(lanes_.size(), static_cast<size_t>(threads)));
  for (Lockstep::Lane& lane : lanes_) lane.begin();
}

void Counting::advance(int first_thread, LaneMask unfinished) {
  const int lanes = std::min(kLanes, threads_ - first_thread);
  lockstep_.advance({lanes_.data() + first_thread, static_cast<size_t>(lanes)}, unfinished);
}

void Counting::block(const void* code, LaneMask lanes) {
  auto& last = last_blocks_[reinterpret_cast<uintptr_t>(code) / 2 % kPlaces];
  if (last.code != code) last = {code, &counts_.blocks[code]};
  ++last.found->warps;
  last.found->lanes += std::popcount(lanes);
}

void Counting::access(EventKind kind, const void* code, LaneMask lanes, std::span<const uintptr_t> addresses,
                      size_t bytes) {
  const uint64_t key = CodeCounts::key_of(kind, code);
  auto& last = last_accesses_[reinterpret_cast<uintptr_t>(code) / 2 % kPlaces];
  if (last.key != key) {
    const auto [place, is_new] = counts_.accesses.try_emplace(key);
    if (is_new) {
      place->second = map_.place_of(addresses.front());
      place->second.bytes = static_cast<int>(bytes);
    }
    last = {key, &place->second};
  }
  const MemoryCounts cost = cost_of(last.found->space, type_of(kind), lanes, addresses, bytes);
  last.found->counts += cost;
  const int64_t units = cost.sectors + cost.wavefronts;  // one of the two is 0
  const ExampleRequest& example = last.found->example;
  if (units > example.cost || (units == example.cost && addresses.front() < last.found->example_at)) [[unlikely]]
    keep_example(*last.found, units, lanes, addresses);
}

void Counting::keep_example(CodeCounts::Access& access, int64_t cost, LaneMask lanes,
                            std::span<const uintptr_t> addresses) {
  const uintptr_t base = map_.base_of(access);
  access.example_at = addresses.front();
  access.example = {.cost = cost, .lanes = lanes, .offsets = {}};
  size_t next = 0;
  for_each_lane(lanes, [&](int lane) {
    access.example.offsets[static_cast<size_t>(lane)] = static_cast<int64_t>(addresses[next++] - base);
  });
}

void Counting::matrix(bool is_store, const void* code, uintptr_t base, int runs, size_t bytes, size_t distance) {
  uintptr_t addresses[kLanes];
  int lane = 0;
  for (int run = 0; run < runs; ++run) {
    for (size_t at = 0; at < bytes; at += 4) {
      addresses[lane++] = base + static_cast<size_t>(run) * distance + at;
      if (lane < kLanes) continue;
      access(is_store ? EventKind::write : EventKind::read, code, UINT32_MAX, addresses, 4);
      lane = 0;
    }
  }
}

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

bool is_counting() { return counting; }

void keep_fill(size_t bytes) {
  if (!counting) return;
  std::lock_guard lock(mutex);
  filled += static_cast<int64_t>(bytes);
}

void keep_counts(const Grid& grid) {
  if (grid.counts.blocks.empty()) return;  // the kernel is not compiled for counting
  KernelCounts kernel;
  kernel.kernel = kernel_name_of(grid);
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

  std::lock_guard lock(mutex);
  const auto known = std::find_if(kept.begin(), kept.end(), [&](const KernelCounts& other) {
    return other.kernel == kernel.kernel && other.grid == kernel.grid && other.block == kernel.block &&
           other.dynamic_shared_bytes == kernel.dynamic_shared_bytes;
  });
  if (known == kept.end()) {
    kept.push_back(std::move(kernel));
  } else {
    *known += kernel;
  }
}

}  // namespace internal
}  // namespace convlab::simt
