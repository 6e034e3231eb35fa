#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/predict/gpu_rates.h"
#include "convlab/predict/kernel_work.h"

namespace convlab {

/// One thing that a launch needs of a GPU, and how long that takes if nothing else holds it up: count / rate.
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
  int registers = 0;          ///< 0: not known
  double resident_warps = 0;  ///< of a multiprocessor: as occupancy says, or fewer if the grid has no more
  double launches = 0;
  std::vector<Resource> resources;  ///< those with a count, the slowest first

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

/// The model. A function takes as long as the slowest of what it needs, as if all else went on beside it:
///
///   instruction issue  warp instructions, one a cycle of each of a multiprocessor's four schedulers
///   L1 and shared      wavefronts of shared memory, and of requests to global memory, one a cycle and multiprocessor
///   fp32, tf32, fp16   operations at the measured rates
///   memory             each array that it loads or stores, once, at the measured rate of copying
///   last cache         arrays that it holds, at its measured rate; atomic operations read and write their
///                      sectors there
///   latency            requests of a warp, each of which waits for the one before
///   launching          launches, one after another
///
/// What only some multiprocessors have to do because the grid is too small is that much slower.
KernelTime time_of(const KernelWork& work, const GpuRates& rates);

/// Cycles until a load from the first-level cache or shared memory has its value. Luo et al., "Benchmarking and
/// Dissecting the Nvidia Hopper GPU Architecture via Microbenchmarking", 2024: about 30 for shared memory.
inline constexpr double kLoadCycles = 30;

/// From the end of one kernel to the begin of the next in a stream, about.
inline constexpr double kLaunchSeconds = 2e-6;

}  // namespace convlab
