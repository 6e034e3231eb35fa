#pragma once

#include <string>
#include <string_view>

#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// What a multiprocessor of one compute capability holds, and how fast it is at what is the same for all GPUs of it:
/// CUDA C++ Programming Guide, tables "Technical Specifications per Compute Capability" and "Throughput of Native
/// Arithmetic Instructions"; how registers and shared memory are rounded up: cuda_occupancy.h of CUDA's toolkit.
struct MultiprocessorLimits {
  int compute_capability = 0;  ///< 90 for 9.0
  int warps = 0, blocks = 0;   ///< resident at once
  int shared_kib = 0;          ///< of all resident blocks
  int fp32_lanes = 0;          ///< multiply-adds a cycle

  static constexpr int kRegisters = 65536, kRegisterUnit = 256, kSchedulers = 4;

  int shared_unit() const { return compute_capability < 80 ? 256 : 128; }
  int shared_of_system() const { return compute_capability < 80 ? 0 : 1024; }  ///< of each block, bytes
};

/// Those of 7.0 to 12.0; of a newer one the last known before it, of an older one those of 7.0.
const MultiprocessorLimits& limits_of(int compute_capability);

/// The compute capability of which we speak where nobody says another: an H100's and an H200's.
inline constexpr int kUsualCapability = 90;

/// How many blocks of a kernel fit on a multiprocessor, and what limits them.
struct Occupancy {
  int blocks = 0, warps = 0;
  double share = 0;     ///< of the warps that a multiprocessor holds, 0..1
  std::string limiter;  ///< "threads", "shared memory", "registers", "blocks"
};

/// From block size, shared memory and counts.registers; registers that are not known (0) do not limit.
Occupancy occupancy_of(const KernelCounts& counts, const MultiprocessorLimits& limits = limits_of(kUsualCapability));

/// "at most 8 blocks a multiprocessor (100 % of its warps, by threads)", with what is not known.
std::string to_text(const Occupancy& occupancy, const KernelCounts& counts);

}  // namespace convlab
