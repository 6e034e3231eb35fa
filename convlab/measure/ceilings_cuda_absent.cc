// Stands in for cuda_ceilings() in a build without CUDA.

#include "convlab/base/error.h"
#include "convlab/measure/ceilings_of_device.h"

namespace convlab {

Ceilings cuda_ceilings(Device&, Stream&) { throw unavailable("this build has no CUDA support"); }

}  // namespace convlab
