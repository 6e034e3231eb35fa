#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/conv/problem.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/record.h"

namespace convlab {

/// A kernel as described by its registration and its source file.
struct KernelFacts {
  std::string name, math, idea, after;
  std::string file, source;  ///< path from the root, and its text; "" if unknown to this build
  int rung = 0;
  DeviceKind device = DeviceKind::cpu;  ///< cuda for the CUDA kernels, even if this build has them only for simt
  const Kernel* registered = nullptr;   ///< null if unknown to this build

  /// Returns whether it is a CUDA kernel of the ladder or a library's, for which the course asks for times and
  /// counters. Production kernels have a separate table.
  bool of_course() const { return device == DeviceKind::cuda && rung != kProductionRung; }

  /// Returns why the kernel does not support a problem (on a large GPU, for a CUDA kernel); "" if it does, or if the
  /// kernel is unknown to this build.
  std::string refusal(const std::string& problem) const;
};

/// Returns all kernels of this build, ordered by device (cuda first) and rung, and kernels that only the records have.
std::vector<KernelFacts> all_kernels(const std::vector<Record>& records);

/// The records of one machine, at most one per kernel and problem.
struct MachineRecords {
  Machine machine;
  std::vector<Record> records;

  const Record* find(const std::string& kernel, const std::string& problem) const;

  /// Returns whether a kernel for this kind of device was measured here.
  bool has(DeviceKind device) const;
};

/// Groups records by device and CPU, GPUs first. Keeps the newest record of each kernel, problem and tuning, and the
/// tuning with the smallest median. Leaves out records with an epilogue.
std::vector<MachineRecords> by_machine(const std::vector<Record>& records);

/// Speedup: the ratio of medians, and the interval that follows from the 95 % intervals of both.
struct Gain {
  double ratio = 1, low = 0, high = 0;
  bool sure() const { return low > 1 || high < 1; }
};
std::optional<Gain> gain(const Record* before, const Record* now);

/// Returns the operations of the direct method per byte of input, filters and output, each moved once.
double intensity(const std::string& problem);

/// Returns the text of a problem with another number of images.
std::string with_images(const std::string& problem, int64_t n);

}  // namespace convlab
