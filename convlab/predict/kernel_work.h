#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convlab/conv/problem.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// What a kernel does for a problem: simt's counts of a few images, and what all of them need.
struct KernelWork {
  struct Array {
    double counted_bytes = 0;  ///< for the counted images
    double bytes = 0;          ///< for all
  };

  std::string kernel;
  ConvProblem problem;                  ///< with all images
  int64_t counted_images = 1;           ///< fewer than the problem's, or as many
  std::vector<KernelCounts> functions;  ///< of the counted images, in the order of their first launches
  double filled_bytes = 0;              ///< likewise: what the host has set to a value, as cudaMemset does
  std::map<std::string, Array> arrays;  ///< by the names that counts have: "x", "w", "y", "workspace", "device_y"

  /// Counts are taken as proportional to the images.
  double scale() const { return static_cast<double>(problem.n) / static_cast<double>(counted_images); }

  /// What a multiply-add of the direct method comes to, for a warp of 32.
  double warp_multiply_adds() const { return problem.flops() / 2 / kLanes; }
};

/// What one function's launches do, or several together, for all images.
struct Quantities {
  double global_requests = 0, global_sectors = 0;
  double global_wavefronts = 0;  ///< the larger of requests and a quarter of sectors, line by line
  double shared_requests = 0, shared_wavefronts = 0, bank_conflicts = 0;
  double atomic_requests = 0, atomic_bytes = 0;      ///< of global memory; bytes of the sectors, read and written
  double memory_bytes = 0, cache_bytes = 0;          ///< that must come or go: from memory, and from the last cache
  double flops = 0, tf32_flops = 0, half_flops = 0;  ///< the first without tensor cores'
  double instructions = 0;
  double lanes = 0, blocks = 0;  ///< active lanes of basic blocks that warps executed

  Quantities& operator+=(const Quantities& other);
  double active_lanes() const { return blocks == 0 ? 0 : lanes / blocks; }
};

/// Of one of the work's functions. Each array that it loads, and each that it stores, comes or goes once, or as often
/// as its sectors say if that is less: from the last cache if that holds the array, otherwise from memory.
Quantities quantities_of(const KernelWork& work, const KernelCounts& function, double cache_size);

}  // namespace convlab
