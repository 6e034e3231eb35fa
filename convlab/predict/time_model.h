#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/predict/gpu_rates.h"
#include "convlab/predict/kernel_work.h"

namespace convlab {

/// A resource that a launch uses, and the time that it needs if nothing else delays it: count / rate.
struct Resource {
  std::string_view name;  ///< "instruction issue"
  std::string_view unit;  ///< "warp instructions"
  double count = 0, rate = 0;

  double seconds() const { return rate > 0 ? count / rate : 0; }
};

/// The time of one function's launches.
struct FunctionTime {
  std::string function;
  Quantities quantities;
  Occupancy occupancy;
  int registers = 0;          ///< 0: unknown
  double resident_warps = 0;  ///< per multiprocessor: as in `occupancy`, or fewer if the grid has fewer
  double launches = 0;
  std::vector<Resource> resources;  ///< those in use, the slowest first

  const Resource& limit() const { return resources.front(); }
  double seconds() const { return limit().seconds(); }
};

/// The time of a kernel: its functions run one after another.
struct KernelTime {
  std::vector<FunctionTime> functions;

  double seconds() const;
  Quantities quantities() const;
  const FunctionTime& slowest() const;
};

/// Predicts a kernel's time. A function takes as long as its slowest resource, as if all others were fully overlapped:
///
///   instruction issue  warp instructions, one per cycle and scheduler, four schedulers per multiprocessor
///   L1 and shared      wavefronts of shared memory and of global memory requests, one per cycle and multiprocessor
///   fp32, tf32, fp16   operations at the measured rates
///   memory             each array that it loads or stores, once, at the measured copy rate
///   L2                 arrays that fit in it, at its measured copy rate; atomics read and write their sectors there
///   latency            requests of a warp; each waits for the previous one
///   launching          launches, one after another
///
/// If the grid has fewer blocks than the GPU has multiprocessors, the rates of all but memory, L2 and launching are
/// reduced in proportion.
KernelTime time_of(const KernelWork& work, const GpuRates& rates);

/// Latency in cycles of a load from L1 or shared memory. Luo et al., "Benchmarking and Dissecting the Nvidia Hopper GPU
/// Architecture via Microbenchmarking", 2024: about 30 for shared memory.
inline constexpr double kLoadCycles = 30;

/// Approximate time from the end of one kernel to the start of the next in a stream.
inline constexpr double kLaunchSeconds = 2e-6;

}  // namespace convlab
