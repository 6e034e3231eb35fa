#include "convlab/base/error.h"
#include "convlab/measure/ceilings_of_device.h"

namespace convlab {

Ceilings cuda_ceilings(Device&, Stream&) { throw unavailable("this build is without CUDA"); }

}  // namespace convlab
