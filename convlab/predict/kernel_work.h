#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "convlab/kernels/step.h"
#include "convlab/kernels/step_work.h"
#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// A kernel's work for a problem: simt's counts for a few images, and what is needed to scale them to all images. A
/// problem without images is counted whole.
struct KernelWork {
  struct Array {
    double counted_bytes = 0;  ///< for the counted images
    double bytes = 0;          ///< for all images
  };

  std::string kernel;
  Step step;                            ///< with all images
  int64_t images = 0;                   ///< 0: the step has none that are independent of each other
  int64_t counted_images = 0;           ///< at most all images
  std::vector<KernelCounts> functions;  ///< for the counted images, in the order of their first launches
  double filled_bytes = 0;              ///< for the counted images: bytes that the host sets, as with cudaMemset
  std::map<std::string, Array> arrays;  ///< by array name in the counts: "x", "w", "y", "workspace", "device_y"

  /// Returns the factor from counted to all images: counts are assumed to be proportional to the images.
  double scale() const { return images == 0 ? 1 : static_cast<double>(images) / static_cast<double>(counted_images); }

  /// Returns the multiply-adds of a convolution's direct method or of a matrix product, per warp of 32 lanes; 0 for
  /// other operators.
  double warp_multiply_adds() const { return operations(step) / 2 / kLanes; }
};

/// Work of one or more functions' launches, for all images.
struct Quantities {
  double global_requests = 0, global_sectors = 0;
  double global_wavefronts = 0;  ///< the larger of requests and a quarter of sectors, line by line
  double shared_requests = 0, shared_wavefronts = 0, bank_conflicts = 0;
  double atomic_requests = 0, atomic_bytes = 0;      ///< of global memory; bytes of the sectors, read and written
  double memory_bytes = 0, cache_bytes = 0;          ///< minimum traffic: with memory, and with L2
  double flops = 0, tf32_flops = 0, half_flops = 0;  ///< flops excludes tensor cores; half_flops are fp16 tensor cores
  double instructions = 0;
  double lanes = 0, blocks = 0;  ///< active lanes of basic blocks that warps executed

  Quantities& operator+=(const Quantities& other);
  double active_lanes() const { return blocks == 0 ? 0 : lanes / blocks; }
};

/// Returns the work of one of `work`'s functions. Each array that it loads or stores moves once, or as often as its
/// sectors say if that is less: to or from L2 if the array fits in it (`cache_size`, bytes), otherwise memory.
Quantities quantities_of(const KernelWork& work, const KernelCounts& function, double cache_size);

}  // namespace convlab
