// Derives the work of a kernel from its counts on simt.

#include "convlab/predict/kernel_work.h"

#include <algorithm>
#include <utility>

namespace convlab {
namespace {

constexpr double kSectorsOfWavefront = 4;  // 128 bytes

/// Returns the bytes of an array that move if each byte moves once.
double once(const KernelWork::Array& array, double scale) {
  const bool grows = array.bytes > array.counted_bytes;
  // Scratch that a kernel refills for each part of the batch is only as large as one part: scale its counted bytes.
  return grows ? array.counted_bytes * scale : array.bytes;
}

}  // namespace

Quantities& Quantities::operator+=(const Quantities& other) {
  for (double Quantities::*const member :
       {&Quantities::global_requests, &Quantities::global_sectors, &Quantities::global_wavefronts,
        &Quantities::shared_requests, &Quantities::shared_wavefronts, &Quantities::bank_conflicts,
        &Quantities::atomic_requests, &Quantities::atomic_bytes, &Quantities::memory_bytes, &Quantities::cache_bytes,
        &Quantities::flops, &Quantities::tf32_flops, &Quantities::half_flops, &Quantities::instructions,
        &Quantities::lanes, &Quantities::blocks}) {
    this->*member += other.*member;
  }
  return *this;
}

Quantities quantities_of(const KernelWork& work, const KernelCounts& function, double cache_size) {
  const double scale = work.scale();
  Quantities sum;
  std::map<std::pair<std::string, AccessType>, double> bytes;  // of sectors, by array and access type
  for (const LineCounts& line : function.lines) {
    const MemoryCounts& counts = line.counts;
    const double requests = scale * static_cast<double>(counts.requests);
    if (line.space == MemorySpace::global) {
      const double sectors = scale * static_cast<double>(counts.sectors);
      sum.global_requests += requests;
      sum.global_sectors += sectors;
      sum.global_wavefronts += std::max(requests, sectors / kSectorsOfWavefront);
      if (line.type == AccessType::atomic) {
        sum.atomic_requests += requests;
        sum.atomic_bytes += 2 * kSectorBytes * sectors;
      } else {
        bytes[{line.array, line.type}] += kSectorBytes * sectors;
      }
    } else if (line.space == MemorySpace::shared) {
      sum.shared_requests += requests;
      sum.shared_wavefronts += scale * static_cast<double>(counts.wavefronts);
      sum.bank_conflicts += scale * static_cast<double>(counts.bank_conflicts());
    }
  }
  for (const auto& [access, moved] : bytes) {
    const auto array = work.arrays.find(access.first);
    const bool known = array != work.arrays.end() && array->second.bytes > 0;
    const double needed = known ? std::min(moved, once(array->second, scale)) : moved;
    const double size = known ? array->second.bytes : moved;
    (size <= cache_size ? sum.cache_bytes : sum.memory_bytes) += needed;
  }
  sum.tf32_flops = scale * static_cast<double>(function.tf32_flops);
  sum.half_flops = scale * static_cast<double>(function.half_flops);
  sum.flops = scale * static_cast<double>(function.flops) - sum.tf32_flops - sum.half_flops;
  sum.instructions = scale * static_cast<double>(function.instructions);
  sum.lanes = scale * static_cast<double>(function.lanes);
  sum.blocks = scale * static_cast<double>(function.blocks);
  return sum;
}

}  // namespace convlab
