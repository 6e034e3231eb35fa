#pragma once

#include <filesystem>
#include <string>

#include "convlab/measure/ceilings.h"
#include "convlab/profile/occupancy.h"

namespace convlab {

/// What a GPU does in a second at best: its measured ceilings, and what follows from them and its compute capability.
struct GpuRates {
  std::string device;  ///< "NVIDIA H200"
  int multiprocessors = 0;
  MultiprocessorLimits limits;
  Ceilings ceilings;

  /// Clock cycles of all multiprocessors together: the rate of multiply-adds, over what one multiprocessor does a
  /// cycle.
  double cycles() const { return ceilings.fp32_flops / (2 * limits.fp32_lanes); }

  /// Warp instructions: each scheduler issues one a cycle.
  double instructions() const { return cycles() * MultiprocessorLimits::kSchedulers; }

  /// Wavefronts of up to 128 bytes between a multiprocessor and its first-level cache, of which shared memory is a
  /// part: one a cycle (CUDA C++ Programming Guide: 32 banks of 32 bits a cycle).
  double wavefronts() const { return cycles(); }
};

/// `description`: DeviceCaps::description of a GPU, "NVIDIA H200, compute capability 9.0, 132 multiprocessors, 140
/// GiB". Error(bad_input) where it is none, or where a ceiling is missing.
GpuRates rates_of(const std::string& description, const Ceilings& ceilings);

/// Those of the GPU whose Records a file holds, as `convlab bench --json` writes them. Error(bad_input) with the file.
GpuRates rates_from_records(const std::filesystem::path& path);

}  // namespace convlab
