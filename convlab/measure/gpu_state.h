#pragma once

#include <string>

#include "convlab/measure/machine.h"

namespace convlab {

// State of this thread's current GPU, from NVML. Empty if NVML is missing or does not report a value.

MachineState gpu_state();
std::string gpu_driver_version();

}  // namespace convlab
