#pragma once

#include "convlab/measure/ceilings.h"

namespace convlab {

/// Highway's widest vectors on these threads.
Ceilings host_ceilings(ThreadPool& threads);

/// Of a GPU; in a build without CUDA there is none to ask about.
Ceilings cuda_ceilings(Device& device, Stream& stream);

}  // namespace convlab
