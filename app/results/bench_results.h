#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <nlohmann/json_fwd.hpp>

#include "app/interrupt.h"
#include "app/results/output.h"
#include "convlab/kernels/kernel.h"
#include "convlab/measure/interleaved.h"
#include "convlab/measure/record.h"

namespace convlab::app {

/// The Records of a session. The JSON file is complete at any time and is rewritten for each added Record; Ctrl-C ends
/// the session and keeps the Records so far.
class BenchResults {
 public:
  /// Create it before other threads; see OnInterrupt.
  explicit BenchResults(Output& output);
  ~BenchResults();

  /// Returns the index of the Record, for compared().
  size_t add(const Record& record);

  /// Adds the interleaved comparison of the kernel of Record `number` with another kernel.
  void compared(size_t number, const Kernel& other, const Comparison& comparison);

  void finish();

 private:
  Output& output_;
  std::mutex mutex_;
  std::unique_ptr<nlohmann::ordered_json> records_;
  OnInterrupt on_interrupt_;
};

}  // namespace convlab::app
