#pragma once

#include <string>

#include "convlab/measure/machine.h"

namespace convlab {

// Of the GPU that this thread uses, as NVML tells it. Where NVML is not there, or does not tell: nothing.

MachineState gpu_state();
std::string gpu_driver_version();

}  // namespace convlab
