// Chooses the recorder for a device.

#include "app/recorders.h"

#include "convlab/device/cuda.h"

namespace convlab::app {

std::unique_ptr<Recorder> make_recorder(const std::string& device) {
  if (device == "simt") return make_host_recorder(DeviceKind::simt);
  const bool cuda = device.starts_with("cuda") || (device == "auto" && cuda_present());
  return cuda ? make_cuda_recorder() : make_host_recorder(DeviceKind::cpu);
}

}  // namespace convlab::app
