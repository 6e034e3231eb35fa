// Counts the memory requests, branches and operations of one worker's blocks.

#include "convlab/simt/code_counts.h"

#include <algorithm>
#include <bit>

namespace convlab::simt::internal {

AccessType type_of(EventKind kind) {
  if (kind == EventKind::atomic) return AccessType::atomic;
  return kind == EventKind::write ? AccessType::store : AccessType::load;
}

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

}  // namespace convlab::simt::internal
