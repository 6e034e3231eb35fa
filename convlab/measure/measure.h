#pragma once

#include <span>

#include "convlab/measure/bench.h"
#include "convlab/measure/ceilings.h"
#include "convlab/measure/record.h"

namespace convlab {

/// Times one kernel on the arrays, hot and cold. Throws Error(wrong_result) if a checked output is wrong, and
/// Error(unavailable) if the kernel, on a machine that was not busy, is faster than the bound for moving the arrays
/// (or, with direct sums, for the arithmetic): its outputs are right, so the clock or the ceilings are wrong.
Record measure(const Kernel& kernel, BenchArrays& arrays, const Ceilings& ceilings, const Effort& effort,
               Checked checked = Checked::ends, std::span<const int> tuning = {});

}  // namespace convlab
