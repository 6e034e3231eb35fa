#pragma once

#include <string>
#include <string_view>

#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// Resources of a multiprocessor of one compute capability, and the rates that all GPUs of it have in common: CUDA C++
/// Programming Guide, tables "Technical Specifications per Compute Capability" and "Throughput of Native Arithmetic
/// Instructions". Rounding of registers and shared memory: cuda_occupancy.h of the CUDA toolkit.
struct MultiprocessorLimits {
  int compute_capability = 0;  ///< 90 for 9.0
  int warps = 0, blocks = 0;   ///< maximum resident
  int shared_kib = 0;          ///< for all resident blocks
  int fp32_lanes = 0;          ///< multiply-adds per cycle

  static constexpr int kRegisters = 65536, kRegisterUnit = 256, kSchedulers = 4;

  int shared_unit() const { return compute_capability < 80 ? 256 : 128; }
  int shared_of_system() const { return compute_capability < 80 ? 0 : 1024; }  ///< reserved per block, bytes
};

/// Returns the limits of 7.0 to 12.0; for unknown capabilities those of the closest older one, or else of 7.0.
const MultiprocessorLimits& limits_of(int compute_capability);

/// The default compute capability: H100 and H200.
inline constexpr int kUsualCapability = 90;

/// How many blocks of a kernel are resident on a multiprocessor, and what limits them.
struct Occupancy {
  int blocks = 0, warps = 0;
  double share = 0;     ///< of the multiprocessor's maximum of warps, 0..1
  std::string limiter;  ///< "threads", "shared memory", "registers", "blocks"
};

/// Computes the occupancy from block size, shared memory and counts.registers. Unknown registers (0) do not limit.
Occupancy occupancy_of(const KernelCounts& counts, const MultiprocessorLimits& limits = limits_of(kUsualCapability));

/// Returns "32 registers per thread; at most 8 blocks per multiprocessor (100 % occupancy, limited by threads)", or
/// "registers unknown; ...".
std::string to_text(const Occupancy& occupancy, const KernelCounts& counts);

}  // namespace convlab
