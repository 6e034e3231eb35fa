#pragma once

#include <filesystem>
#include <string>

#include "convlab/measure/ceilings.h"
#include "convlab/warps/occupancy.h"

namespace convlab {

/// A GPU's peak rates per second: its measured ceilings, and rates derived from them and its compute capability.
struct GpuRates {
  std::string device;  ///< "NVIDIA H200"
  int multiprocessors = 0;
  MultiprocessorLimits limits;
  Ceilings ceilings;

  /// Returns clock cycles of all multiprocessors together: the multiply-add rate over the multiply-adds per cycle of
  /// one multiprocessor.
  double cycles() const { return ceilings.fp32_flops / (2 * limits.fp32_lanes); }

  /// Returns warp instructions: each scheduler issues one per cycle.
  double instructions() const { return cycles() * MultiprocessorLimits::kSchedulers; }

  /// Returns wavefronts of up to 128 bytes between a multiprocessor and its L1, which includes shared memory: one per
  /// cycle (CUDA C++ Programming Guide: 32 banks of 32 bits per cycle).
  double wavefronts() const { return cycles(); }
};

/// `description`: DeviceCaps::description of a GPU, "NVIDIA H200, compute capability 9.0, 132 multiprocessors, 140
/// GiB". Throws Error(bad_input) if it is not a GPU's, or if a ceiling is missing.
GpuRates rates_of(const std::string& description, const Ceilings& ceilings);

/// Returns the rates of the GPU whose Records are in a file, as written by `convlab bench --json`. Throws
/// Error(bad_input) with the file.
GpuRates rates_from_records(const std::filesystem::path& path);

}  // namespace convlab
