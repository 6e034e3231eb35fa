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

/// The Records of a session. The JSON file is always whole and gets each Record as soon as it is added; Ctrl-C ends the
/// session with those that there are.
class BenchResults {
 public:
  /// Make it before other threads; see OnInterrupt.
  explicit BenchResults(Output& output);
  ~BenchResults();

  /// Returns the Record's number, for compared().
  size_t add(const Record& record);

  /// How its kernel did, in turns, against another one.
  void compared(size_t number, const ConvKernel& other, const Comparison& comparison);

  void finish();

 private:
  Output& output_;
  std::mutex mutex_;
  std::unique_ptr<nlohmann::ordered_json> records_;
  OnInterrupt on_interrupt_;
};

}  // namespace convlab::app
