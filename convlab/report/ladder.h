#pragma once

#include <optional>
#include <string>
#include <vector>

#include "convlab/conv/problem.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/record.h"

namespace convlab {

/// A kernel as its registration and its file describe it.
struct KernelFacts {
  std::string name, math, idea, after;
  std::string file, source;  ///< path from the root, and its text; "" where this build does not know it
  int rung = 0;
  DeviceKind device = DeviceKind::cpu;     ///< cuda for the CUDA kernels, even where this build has them only for simt
  const ConvKernel* registered = nullptr;  ///< null where this build does not know it

  /// Whether it is a CUDA kernel of the ladder or a library's, whose times and counters the course asks for; production
  /// kernels are in a table of their own.
  bool of_course() const { return device == DeviceKind::cuda && rung != kProductionRung; }

  /// Why the kernel does not compute a problem (on a large GPU, if it is a CUDA kernel); "" if it does, or if this
  /// build does not know it.
  std::string refusal(const std::string& problem) const;
};

/// All kernels that this build knows, in the order of devices (cuda first) and rungs, then those only in the records.
std::vector<KernelFacts> all_kernels(const std::vector<Record>& records);

/// The records of one machine, one per kernel and problem.
struct MachineRecords {
  Machine machine;
  std::vector<Record> records;

  const Record* find(const std::string& kernel, const std::string& problem) const;

  /// Whether some kernel of this kind of device was measured here.
  bool has(DeviceKind device) const;
};

/// Grouped by device and CPU, GPUs first. Of several records of one kernel, problem and tuning we keep the newest, and
/// of several tunings the one with the smallest median. Records of more than a convolution are left out.
std::vector<MachineRecords> by_machine(const std::vector<Record>& records);

/// How many times as fast: the ratio of medians, and the interval that follows from those of both (95 % each).
struct Gain {
  double ratio = 1, low = 0, high = 0;
  bool sure() const { return low > 1 || high < 1; }
};
std::optional<Gain> gain(const Record* before, const Record* now);

/// Operations of the direct method per byte of input, filters and output, each moved once.
double intensity(const std::string& problem);

/// The text of a problem for another number of images.
std::string with_images(const std::string& problem, int64_t n);

}  // namespace convlab
