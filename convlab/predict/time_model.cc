// Predicts a kernel's time from its work and the GPU's rates.

#include "convlab/predict/time_model.h"

#include <algorithm>

#include "convlab/base/checked.h"

namespace convlab {
namespace {

/// Keeps resources that are in use and have a known rate, the slowest first.
void keep_used(std::vector<Resource>& resources) {
  std::erase_if(resources, [](const Resource& resource) { return !(resource.count > 0 && resource.rate > 0); });
  std::ranges::stable_sort(resources, std::ranges::greater(), &Resource::seconds);
}

FunctionTime function_time(const KernelWork& work, const KernelCounts& counts, const GpuRates& rates) {
  const Ceilings& ceilings = rates.ceilings;
  FunctionTime time{.function = counts.kernel,
                    .quantities = quantities_of(work, counts, static_cast<double>(ceilings.cache_size)),
                    .occupancy = occupancy_of(counts, rates.limits),
                    .registers = counts.registers,
                    .launches = static_cast<double>(counts.launches)};
  const Quantities& sum = time.quantities;

  // For one launch: the fraction of multiprocessors that have a block, and the resident warps of each of these.
  const int64_t threads = int64_t{counts.block[0]} * counts.block[1] * counts.block[2];
  const int64_t warps_of_block = ceil_div(threads, int64_t{kLanes});
  const double warps = work.scale() * static_cast<double>(counts.warps) / std::max(1.0, time.launches);
  const double multiprocessors = rates.multiprocessors;
  const double blocks = std::max(1.0, warps / static_cast<double>(warps_of_block));
  const double busy = std::min(1.0, blocks / multiprocessors);
  time.resident_warps = std::min(std::max(1.0, static_cast<double>(time.occupancy.warps)),
                                 std::max(1.0, warps / (busy * multiprocessors)));

  const double requests = sum.global_requests + sum.shared_requests;
  time.resources = {
      {"instruction issue", "warp instructions", sum.instructions, busy * rates.instructions()},
      {"L1 and shared memory", "wavefronts", sum.shared_wavefronts + sum.global_wavefronts, busy * rates.wavefronts()},
      {"fp32 arithmetic", "flops", sum.flops, busy * ceilings.fp32_flops},
      {"tf32 tensor cores", "flops", sum.tf32_flops, busy * ceilings.tf32_flops},
      {"fp16 tensor cores", "flops", sum.half_flops, busy * ceilings.fp16_flops},
      {"memory", "bytes", sum.memory_bytes, ceilings.memory_bytes},
      {"L2", "bytes", sum.cache_bytes + sum.atomic_bytes, ceilings.cache_bytes},
      {"latency", "requests", requests, busy * rates.cycles() * time.resident_warps / kLoadCycles},
      {"launch overhead", "launches", time.launches, 1 / kLaunchSeconds},
  };
  keep_used(time.resources);
  return time;
}

/// Returns the time of filling memory, which only moves bytes.
FunctionTime fill_time(double bytes, const Ceilings& ceilings) {
  FunctionTime time{.function = "memset", .quantities = {}, .occupancy = {}, .launches = 1, .resources = {}};
  Quantities& sum = time.quantities;
  (bytes <= static_cast<double>(ceilings.cache_size) ? sum.cache_bytes : sum.memory_bytes) = bytes;
  time.resources = {{"memory", "bytes", sum.memory_bytes, ceilings.memory_bytes},
                    {"L2", "bytes", sum.cache_bytes, ceilings.cache_bytes},
                    {"launch overhead", "launches", 1, 1 / kLaunchSeconds}};
  keep_used(time.resources);
  return time;
}

}  // namespace

double KernelTime::seconds() const {
  double sum = 0;
  for (const FunctionTime& function : functions) sum += function.seconds();
  return sum;
}

Quantities KernelTime::quantities() const {
  Quantities sum;
  for (const FunctionTime& function : functions) sum += function.quantities;
  return sum;
}

const FunctionTime& KernelTime::slowest() const {
  return *std::ranges::max_element(functions, {}, &FunctionTime::seconds);
}

KernelTime time_of(const KernelWork& work, const GpuRates& rates) {
  KernelTime time;
  if (work.filled_bytes > 0) time.functions.push_back(fill_time(work.scale() * work.filled_bytes, rates.ceilings));
  for (const KernelCounts& counts : work.functions) time.functions.push_back(function_time(work, counts, rates));
  return time;
}

}  // namespace convlab
