// Computes a kernel's occupancy.

#include "convlab/warps/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace convlab {
namespace {

constexpr std::array kLimits{
    MultiprocessorLimits{.compute_capability = 70, .warps = 64, .blocks = 32, .shared_kib = 96, .fp32_lanes = 64},
    MultiprocessorLimits{.compute_capability = 75, .warps = 32, .blocks = 16, .shared_kib = 64, .fp32_lanes = 64},
    MultiprocessorLimits{.compute_capability = 80, .warps = 64, .blocks = 32, .shared_kib = 164, .fp32_lanes = 64},
    MultiprocessorLimits{.compute_capability = 86, .warps = 48, .blocks = 16, .shared_kib = 100, .fp32_lanes = 128},
    MultiprocessorLimits{.compute_capability = 87, .warps = 48, .blocks = 16, .shared_kib = 164, .fp32_lanes = 128},
    MultiprocessorLimits{.compute_capability = 89, .warps = 48, .blocks = 24, .shared_kib = 100, .fp32_lanes = 128},
    MultiprocessorLimits{.compute_capability = 90, .warps = 64, .blocks = 32, .shared_kib = 228, .fp32_lanes = 128},
    MultiprocessorLimits{.compute_capability = 100, .warps = 64, .blocks = 32, .shared_kib = 228, .fp32_lanes = 128},
    MultiprocessorLimits{.compute_capability = 120, .warps = 48, .blocks = 24, .shared_kib = 100, .fp32_lanes = 128},
};

int rounded_up(int value, int unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

const MultiprocessorLimits& limits_of(int compute_capability) {
  const auto above = std::ranges::find_if(
      kLimits, [&](const MultiprocessorLimits& limits) { return limits.compute_capability > compute_capability; });
  return above == kLimits.begin() ? kLimits.front() : *(above - 1);
}

Occupancy occupancy_of(const KernelCounts& counts, const MultiprocessorLimits& limits) {
  const int threads = static_cast<int>(counts.block[0] * counts.block[1] * counts.block[2]);
  const int warps = (threads + kLanes - 1) / kLanes;
  Occupancy occupancy{.blocks = limits.warps / warps, .limiter = "threads"};
  const auto limit = [&](int blocks, std::string_view name) {
    if (blocks < occupancy.blocks) occupancy = {.blocks = blocks, .limiter = std::string(name)};
  };
  limit(limits.blocks, "blocks");
  const int shared =
      rounded_up(static_cast<int>(counts.static_shared_bytes + counts.dynamic_shared_bytes) + limits.shared_of_system(),
                 limits.shared_unit());
  if (shared > 0) limit(limits.shared_kib * 1024 / shared, "shared memory");
  if (counts.registers > 0) {
    // Each scheduler has a quarter of the registers and allocates them to whole warps.
    const int of_warp = rounded_up(counts.registers * kLanes, MultiprocessorLimits::kRegisterUnit);
    const int of_scheduler = MultiprocessorLimits::kRegisters / MultiprocessorLimits::kSchedulers / of_warp;
    limit(of_scheduler * MultiprocessorLimits::kSchedulers / warps, "registers");
  }
  occupancy.warps = occupancy.blocks * warps;
  occupancy.share = static_cast<double>(occupancy.warps) / limits.warps;
  return occupancy;
}

std::string to_text(const Occupancy& occupancy, const KernelCounts& counts) {
  return fmt::format(
      "{}; at most {} blocks per multiprocessor ({:.0f} % occupancy, limited by {})",
      counts.registers > 0 ? fmt::format("{} registers per thread", counts.registers) : "registers unknown",
      occupancy.blocks, 100 * occupancy.share, occupancy.limiter);
}

}  // namespace convlab
