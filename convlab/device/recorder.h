#pragma once

#include <memory>
#include <string>

#include "convlab/base/stage.h"
#include "convlab/device/activity.h"

namespace convlab {

/// Sees what a program does between start() and stop(). As the observer of the program's parts, it ties what it sees to
/// them; between recordings, observing costs next to nothing.
class Recorder : public StageObserver {
 public:
  virtual void start() = 0;

  /// What was seen since start(). The device's work must be done before: synchronize first.
  virtual Recording stop() = 0;
};

/// For devices whose kernels run in the calling thread's time: a step's kernel takes the time of the step. Copies are
/// seen where the device has its own memory (simt), and every other part counts as a call of the host.
std::unique_ptr<Recorder> make_host_recorder(DeviceKind device);

/// For GPUs, through CUPTI, which comes with the CUDA toolkit and is loaded at run time; make it before any other use
/// of CUDA, so that it misses nothing. Error(unavailable) where this build has no CUDA, there is no CUPTI (with the
/// places that were searched), or it refuses.
std::unique_ptr<Recorder> make_cuda_recorder();

}  // namespace convlab
