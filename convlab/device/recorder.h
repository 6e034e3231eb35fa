#pragma once

#include <memory>
#include <string>

#include "convlab/base/stage.h"
#include "convlab/device/activity.h"

namespace convlab {

/// Records what a program does between start() and stop(). It observes the parts of the program and attributes
/// activities to them; outside recordings, observing costs next to nothing.
class Recorder : public StageObserver {
 public:
  virtual void start() = 0;

  /// Returns the activities since start(). Synchronize the device before.
  virtual Recording stop() = 0;
};

/// Returns a recorder for devices whose kernels run synchronously: a kernel's time is its step's. Uploads and downloads
/// are recorded as copies if the device has its own memory (simt), and every other part as an API call.
std::unique_ptr<Recorder> make_host_recorder(DeviceKind device);

/// Returns a recorder for GPUs that uses CUPTI, which comes with the CUDA toolkit and is loaded at run time. Create it
/// before any other use of CUDA, so that it misses nothing. Throws Error(unavailable) if this build has no CUDA, CUPTI
/// is missing (with the paths that were searched), or CUPTI reports an error.
std::unique_ptr<Recorder> make_cuda_recorder();

}  // namespace convlab
