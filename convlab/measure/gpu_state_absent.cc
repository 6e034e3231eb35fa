// Stands in for gpu_state.cc in a build without CUDA.

#include "convlab/measure/gpu_state.h"

namespace convlab {

MachineState gpu_state() { return {}; }
std::string gpu_driver_version() { return ""; }

}  // namespace convlab
