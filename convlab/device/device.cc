// Names the kinds of devices, and times work in a stream.

#include "convlab/device/device.h"

#include "convlab/base/clock.h"

namespace convlab {

std::string_view name_of(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::simt:
      return "simt";
  }
  return "?";
}

double Stream::time(const std::function<void()>& work) {
  synchronize();
  const auto begin = Clock::now();
  work();
  synchronize();
  return seconds_since(begin);
}

}  // namespace convlab
