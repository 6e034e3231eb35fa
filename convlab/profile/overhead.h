#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "convlab/device/recorder.h"
#include "convlab/engine/engine.h"

namespace convlab {

/// What recording costs, and whether it tells the truth: passes with and without it in turn, medians of both.
struct ProfilingCheck {
  int64_t passes = 0;  ///< of each sort
  double plain_s = 0, profiled_s = 0;
  double recorded_kernels_s = 0;          ///< per pass, by the recording
  std::optional<double> timed_kernels_s;  ///< per pass, by the GPU's events around each step, without recording
  double start_stop_s = 0;                ///< switching it on and off around a pass, outside of profiled_s

  double overhead() const { return profiled_s / plain_s - 1; }
};

/// `pass` runs the network of `engine` once; it is run until two seconds have gone by, at least three times each way
/// (once where that takes longer). Afterwards the engine has no observer.
ProfilingCheck check_profiling(Engine& engine, Recorder& recorder, const std::function<void()>& pass);

/// Seconds of the engine's steps in one run of `pass`, by events on its stream; nullopt where that is not a GPU's.
std::optional<double> event_seconds(Engine& engine, const std::function<void()>& pass);

}  // namespace convlab
