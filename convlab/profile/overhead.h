#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "convlab/device/recorder.h"
#include "convlab/session/ready_model.h"

namespace convlab {

/// Cost and accuracy of recording: medians of interleaved passes with and without it.
struct ProfilingCheck {
  int64_t passes = 0;  ///< of each kind
  double plain_s = 0, profiled_s = 0;
  double recorded_kernels_s = 0;          ///< per pass, from the recording
  std::optional<double> timed_kernels_s;  ///< per pass, from the GPU's events around each step, without recording
  double start_stop_s = 0;                ///< turning recording on and off around a pass, not part of profiled_s

  double overhead() const { return profiled_s / plain_s - 1; }
};

/// `pass` runs the model once. Passes are repeated for two seconds, at least three times each way (fewer
/// if that takes more than four seconds) and at most 51 times. Afterwards the model has no observer.
ProfilingCheck check_profiling(ReadyModel& model, Recorder& recorder, const std::function<void()>& pass);

/// Returns the seconds of the model's steps in one run of `pass`, from events on its stream; nullopt unless it is on a
/// GPU.
std::optional<double> event_seconds(ReadyModel& model, const std::function<void()>& pass);

}  // namespace convlab
