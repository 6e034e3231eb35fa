#pragma once

#include <memory>
#include <string>

#include "convlab/base/stage.h"
#include "convlab/device/activity.h"

namespace convlab {

/// Sees what a program does between start() and stop(). It is told the program's parts as their observer, and ties what
/// it sees to them; between recordings, being told costs next to nothing.
class Recorder : public StageObserver {
 public:
  virtual void start() = 0;

  /// What was seen since start(). What the device was given before this must be done: synchronize first.
  virtual Recording stop() = 0;
};

/// For devices whose kernels run in the calling thread's time: a step's kernel is the time of the step. Copies are seen
/// where the device has memory of its own (simt), and every other part counts as a call of the host.
std::unique_ptr<Recorder> make_host_recorder(DeviceKind device);

/// For GPUs, through CUPTI, which comes with the CUDA toolkit and is loaded at run time; make it before anything else
/// of CUDA is used, so that nothing is missed. Error(unavailable) where this build has no CUDA, there is no CUPTI (with
/// the places that were looked at), or it refuses.
std::unique_ptr<Recorder> make_cuda_recorder();

}  // namespace convlab
