#pragma once

#include <string>

#include "convlab/measure/machine.h"

namespace convlab {

// The GPU that this thread uses, as NVML describes it. Nothing where NVML is missing, or does not tell.

MachineState gpu_state();
std::string gpu_driver_version();

}  // namespace convlab
