#pragma once

#include "convlab/measure/ceilings.h"

namespace convlab {

/// Measures fp32, bf16, memory and cache rates of the host on these threads, with the widest vectors that Highway
/// supports.
Ceilings host_ceilings(ThreadPool& threads);

/// Computes `rounds` rounds of bf16 products in the processor's fastest bf16 unit and returns the number of operations;
/// 0 without a bf16 unit.
double multiply_bf16(int64_t rounds);

/// Measures a GPU's ceilings. Throws Error(unavailable) in a build without CUDA.
Ceilings cuda_ceilings(Device& device, Stream& stream);

}  // namespace convlab
