#pragma once

#include "convlab/measure/ceilings.h"

namespace convlab {

/// Highway's widest vectors on these threads.
Ceilings host_ceilings(ThreadPool& threads);

/// A GPU's; a build without CUDA has none to ask about.
Ceilings cuda_ceilings(Device& device, Stream& stream);

}  // namespace convlab
