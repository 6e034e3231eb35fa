#pragma once

#include <cstdint>
#include <vector>

#include "convlab/device/device.h"
#include "convlab/plan/plan.h"

namespace convlab {

/// The memory that runs of an engine's plans share on the device: the arena for values between steps and, on a device
/// with its own memory, the arrays for a batch's inputs and outputs. It grows as plans need it. The device must outlive
/// it.
class RunMemory {
 public:
  explicit RunMemory(Device& device) : device_(device) {}

  /// Allocates enough memory for a run of the plan; arrays that are large enough stay.
  void make_room(const Plan& plan, StageObserver* observer);

  unsigned char* arena() const { return static_cast<unsigned char*>(arena_.data()); }
  const std::vector<Buffer>& inputs() const { return inputs_; }
  const std::vector<Buffer>& outputs() const { return outputs_; }

  /// Counts reallocations of any array: recordings with an earlier address are invalid.
  int64_t moves() const { return moves_; }

 private:
  void grow(Buffer& buffer, int64_t bytes);

  Device& device_;
  Buffer arena_;
  std::vector<Buffer> inputs_, outputs_;
  int64_t moves_ = 0;
};

}  // namespace convlab
