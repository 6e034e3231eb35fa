#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/results/output.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/record.h"
#include "convlab/verify/verify.h"

namespace convlab::app {

/// Whether other processes used the CPU during the measurement, so that its times are not valid.
bool was_busy(const Record& record);

/// `convlab bench`'s table of one problem's kernels.
class BenchTable {
 public:
  BenchTable(Output& output, const std::vector<const Kernel*>& kernels);

  /// Explains the columns.
  void legend();

  /// Prints the problem with its operations, bytes and bound, and the columns' names.
  void begin(const Step& step, const Ceilings& ceilings);

  void row(const Record& record);

  /// Prints why a kernel was not timed.
  void untimed(const Kernel& kernel, Outcome outcome, const std::string& reason);

 private:
  Output& output_;
  size_t width_ = 6;
};

}  // namespace convlab::app
