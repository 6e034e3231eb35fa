// Computes the cost of memory requests and sums up the counts of kernels.

#include "convlab/warps/kernel_counts.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <utility>

namespace convlab {
namespace {

// Sort key: "conv.cu:9" comes before "conv.cu:31".
std::pair<std::string_view, int> place_of(std::string_view where) {
  const size_t colon = where.rfind(':');
  const int line = colon == std::string_view::npos ? 0 : std::atoi(where.data() + colon + 1);
  return {where.substr(0, colon), line};
}

using Addresses = std::span<const uintptr_t>;

/// Returns the number of distinct values of addresses / 2^shift. Ascending addresses, the usual case, need no search.
int64_t distinct(Addresses addresses, int shift) {
  uintptr_t found[kLanes];
  int count = 0;
  uintptr_t largest = 0;
  for (const uintptr_t address : addresses) {
    const uintptr_t value = address >> shift;
    if (count > 0 && value <= largest) {
      if (value == largest || std::find(found, found + count, value) != found + count) continue;
    } else {
      largest = value;
    }
    found[count++] = value;
  }
  return count;
}

/// Returns the distance from each lane's address to the next, if all are equal.
std::optional<uintptr_t> distance_of(Addresses addresses) {
  const uintptr_t distance = addresses.size() > 1 ? addresses[1] - addresses[0] : 0;
  bool same = true;
  for (size_t i = 1; i < addresses.size(); ++i) same &= addresses[i] - addresses[i - 1] == distance;
  return same ? std::optional(distance) : std::nullopt;
}

/// Returns the largest number of distinct words that the lanes access in one bank.
int64_t wavefronts_of(Addresses addresses, int words_each) {
  uintptr_t found[kBanks][4 * kLanes];
  int count[kBanks] = {};
  int most = 0;
  for (const uintptr_t address : addresses) {
    for (int i = 0; i < words_each; ++i) {
      const uintptr_t word = address / 4 + static_cast<uintptr_t>(i);
      uintptr_t* const of_bank = found[word % kBanks];
      int& in_bank = count[word % kBanks];
      if (std::find(of_bank, of_bank + in_bank, word) != of_bank + in_bank) continue;
      of_bank[in_bank++] = word;
      most = std::max(most, in_bank);
    }
  }
  return most;
}

/// Returns whether the lanes of each pair have the same address, as far as both are active.
bool in_pairs(LaneMask lanes, Addresses addresses) {
  for (size_t i = 0; i < addresses.size(); ++i, lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    const bool with_next = lane % 2 == 0 && (lanes >> lane & 2) != 0;
    if (with_next && addresses[i] != addresses[i + 1]) return false;
  }
  return true;
}

void add_wavefronts(AccessType type, LaneMask lanes, Addresses addresses, size_t bytes, MemoryCounts& cost) {
  const int words = static_cast<int>(std::max<size_t>(1, bytes / 4));
  int lanes_of_part = kLanes / words;
  if (words > 1 && type == AccessType::load && in_pairs(lanes, addresses)) lanes_of_part *= 2;
  for (int first = 0; first < kLanes; first += lanes_of_part) {
    const auto count = static_cast<size_t>(
        std::popcount(lanes & static_cast<LaneMask>(((uint64_t{1} << lanes_of_part) - 1) << first)));
    if (count == 0) continue;
    cost.wavefronts += wavefronts_of(addresses.first(count), words);
    ++cost.least_wavefronts;
    addresses = addresses.subspan(count);
  }
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

std::string_view name_of(MemorySpace space) {
  constexpr std::string_view kNames[] = {"global", "shared", "constant"};
  return kNames[static_cast<size_t>(space)];
}

std::string_view name_of(AccessType type) {
  constexpr std::string_view kNames[] = {"load", "store", "atomic"};
  return kNames[static_cast<size_t>(type)];
}

MemoryCounts& MemoryCounts::operator+=(const MemoryCounts& other) {
  requests += other.requests;
  lanes += other.lanes;
  bytes += other.bytes;
  sectors += other.sectors;
  least_sectors += other.least_sectors;
  wavefronts += other.wavefronts;
  least_wavefronts += other.least_wavefronts;
  return *this;
}

LineCounts& LineCounts::operator+=(const LineCounts& other) {
  counts += other.counts;
  if (example.gives_way_to(other.example)) example = other.example;
  array_bytes = std::max(array_bytes, other.array_bytes);
  return *this;
}

MemoryCounts KernelCounts::total(MemorySpace space, AccessType type) const {
  MemoryCounts sum;
  for (const LineCounts& line : lines) {
    if (line.space == space && line.type == type) sum += line.counts;
  }
  return sum;
}

MemoryCounts cost_of(MemorySpace space, AccessType type, LaneMask lanes, Addresses addresses, size_t bytes) {
  MemoryCounts cost;
  cost.requests = 1;
  cost.lanes = std::popcount(lanes);
  const std::optional<uintptr_t> distance = distance_of(addresses);
  const bool one = distance == 0, row = distance == bytes;
  const int64_t different = one ? 1 : row ? cost.lanes : distinct(addresses, std::countr_zero(bytes));
  cost.bytes = different * static_cast<int64_t>(bytes);
  switch (space) {
    case MemorySpace::global:
      cost.sectors = one   ? 1
                     : row ? static_cast<int64_t>(addresses.back() / kSectorBytes - addresses[0] / kSectorBytes + 1)
                           : distinct(addresses, std::countr_zero(unsigned{kSectorBytes}));
      cost.least_sectors = ceil_div(cost.bytes, kSectorBytes);
      break;
    case MemorySpace::shared:
      if (bytes == 4 && (one || row)) {
        cost.wavefronts = cost.least_wavefronts = 1;
      } else {
        add_wavefronts(type, lanes, addresses, bytes, cost);
      }
      break;
    case MemorySpace::constant:
      cost.wavefronts = different;
      cost.least_wavefronts = 1;
      break;
  }
  return cost;
}

KernelCounts& KernelCounts::operator+=(const KernelCounts& other) {
  launches += other.launches;
  warps += other.warps;
  flops += other.flops;
  tf32_flops += other.tf32_flops;
  half_flops += other.half_flops;
  instructions += other.instructions;
  blocks += other.blocks;
  lanes += other.lanes;
  for (const LineCounts& line : other.lines) {
    const auto known = std::find_if(lines.begin(), lines.end(), [&](const LineCounts& mine) {
      return mine.where == line.where && mine.array == line.array && mine.space == line.space &&
             mine.type == line.type && mine.access_bytes == line.access_bytes;
    });
    if (known == lines.end()) {
      lines.push_back(line);
    } else {
      *known += line;
    }
  }
  for (const BranchCounts& branch : other.branches) {
    const auto known = std::find_if(branches.begin(), branches.end(),
                                    [&](const BranchCounts& mine) { return mine.where == branch.where; });
    if (known == branches.end()) {
      branches.push_back(branch);
    } else {
      known->warps += branch.warps;
      known->diverged += branch.diverged;
    }
  }
  sort();
  return *this;
}

void KernelCounts::sort() {
  const auto by_place = [](const auto& a, const auto& b) { return place_of(a.where) < place_of(b.where); };
  std::stable_sort(lines.begin(), lines.end(), by_place);
  std::stable_sort(branches.begin(), branches.end(), by_place);
}

}  // namespace convlab
