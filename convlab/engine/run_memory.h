#pragma once

#include <cstdint>

#include "convlab/device/device.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// What runs of an engine's plans share on the device: the arena for what lies between steps; and, on a device with
/// memory of its own, the arrays for a batch's images and output. It grows as plans need it. The device must outlive it.
class RunMemory {
 public:
  explicit RunMemory(Device& device) : device_(device) {}

  /// There is enough for a run of the plan afterwards; what is there and large enough stays.
  void make_room(const Plan& plan, StageObserver* observer);

  unsigned char* arena() const { return static_cast<unsigned char*>(arena_.data()); }
  const Buffer& images() const { return images_; }
  float* output() const { return static_cast<float*>(output_.data()); }

  /// How often an array has been put elsewhere: what was recorded with its address before is of no use any more.
  int64_t moves() const { return moves_; }

 private:
  void grow(Buffer& buffer, int64_t bytes);

  Device& device_;
  Buffer arena_, images_, output_;
  int64_t moves_ = 0;
};

}  // namespace convlab
