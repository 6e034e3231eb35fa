#pragma once

#include "convlab/measure/ceilings.h"

namespace convlab {

/// Highway's widest vectors on these threads.
Ceilings host_ceilings(ThreadPool& threads);

/// Computes so many rounds of products of bfloat16 by the processor's best unit for them, and returns the number of
/// operations; 0 where it has none.
double multiply_halves(int64_t rounds);

/// A GPU's; a build without CUDA has none to ask about.
Ceilings cuda_ceilings(Device& device, Stream& stream);

}  // namespace convlab
