// Keeps the faults of a launch. Only those of its first faulty block are reported.

#include "convlab/simt/grid.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/base/symbol.h"

namespace convlab::simt::internal {

Position position_of(int64_t linear, cuda::dim3 extent) {
  return {static_cast<unsigned>(linear % extent.x), static_cast<unsigned>(linear / extent.x % extent.y),
          static_cast<unsigned>(linear / extent.x / extent.y)};
}

std::string Grid::kernel_name() const {
  if (kernel) return short_symbol(kernel->mangled);
  return fmt::format("at {:#x}", reinterpret_cast<uintptr_t>(call.function) - module->bias());
}

bool same_fault(const RawFault& a, const RawFault& b) {
  return a.kind == b.kind && a.code == b.code && a.subscript == b.subscript && a.space == b.space &&
         same_place(a.location, b.location) &&
         (b.kind != FaultKind::redundant_write || a.other_block.has_value() == b.other_block.has_value());
}

bool add_fault(std::vector<RawFault>& faults, const RawFault& fault) {
  const auto same =
      std::find_if(faults.begin(), faults.end(), [&](const RawFault& known) { return same_fault(known, fault); });
  if (same != faults.end()) {
    ++same->times;
    same->writers = std::max(same->writers, fault.writers);
    return true;
  }
  if (faults.size() >= FaultError::kMaxFaults) return false;
  faults.push_back(fault);
  return true;
}

void Grid::keep_faults(int64_t of_block, const std::vector<RawFault>& of_its_threads) {
  std::lock_guard lock(mutex);
  if (of_block > first_fault_block.load(std::memory_order_relaxed)) return;
  first_fault_block.store(of_block, std::memory_order_relaxed);
  faults = of_its_threads;
}

void Grid::keep_passed(int64_t of_block, const RawFault& fault) {
  std::lock_guard lock(mutex);
  for (auto& [block, known] : passed) {
    const auto same = std::ranges::find_if(known, [&](const RawFault& each) { return same_fault(each, fault); });
    if (same == known.end()) continue;
    const int64_t times = same->times + fault.times;
    if (of_block >= block) {
      same->times = times;
      return;
    }
    known.erase(same);
    passed[of_block].push_back(fault);
    passed[of_block].back().times = times;
    return;
  }
  size_t count = 0;
  for (const auto& [block, known] : passed) count += known.size();
  if (count < FaultError::kMaxFaults) passed[of_block].push_back(fault);
}

void Grid::note(int64_t of_block, const RawFault& fault) {
  std::lock_guard lock(mutex);
  if (noting_block < 0) noting_block = of_block;
  if (noting_block == of_block) add_fault(noted, fault);
}

namespace {

RawFault fault_of(const CandidateRace& candidate) {
  RawFault fault;
  fault.kind = FaultKind::race_global;
  fault.thread = candidate.thread;
  fault.other_block = candidate.other;
  fault.space = RawFault::Space::global;
  fault.address = candidate.address;
  fault.access_bytes = 4;
  fault.is_write = candidate.is_write;
  fault.code = candidate.site.code;
  fault.location = candidate.site.where;
  return fault;
}

}  // namespace

void Grid::report_candidates() {
  if (!checks.has(Check::races_global)) return;
  for (const CandidateRace& candidate : races.candidates()) {
    if (goes_on) {
      keep_passed(candidate.block, fault_of(candidate));
      continue;
    }
    if (candidate.block > first_fault_block) continue;
    if (candidate.block < first_fault_block) faults.clear();
    first_fault_block = candidate.block;
    const auto known = std::find_if(faults.begin(), faults.end(), [&](const RawFault& fault) {
      return fault.code == candidate.site.code && same_place(fault.location, candidate.site.where);
    });
    if (known != faults.end()) {
      ++known->times;
    } else if (faults.size() < FaultError::kMaxFaults) {
      faults.push_back(fault_of(candidate));
    }
  }
}

SourcePlace place_of(const Module& module, const Site& site) {
  if (site.where.line() != 0) return {site.where.file_name(), static_cast<int>(site.where.line()), 0};
  return site.code ? module.place(site.code) : SourcePlace{"unknown line", 0, 0};
}

}  // namespace convlab::simt::internal
