#pragma once

#include <span>

#include "convlab/measure/bench.h"
#include "convlab/measure/ceilings.h"
#include "convlab/measure/record.h"

namespace convlab {

/// Times one kernel on the arrays, hot and cold. Error(wrong_result) where a checked output is wrong.
/// Error(unavailable) where the kernel, on a machine that was not busy, takes less time than moving the arrays takes at
/// best (or, where its sums are direct, than the arithmetic): its outputs are right, so clock or ceilings are wrong.
Record measure(const ConvKernel& kernel, BenchArrays& arrays, const Ceilings& ceilings, const Effort& effort,
               Checked checked = Checked::ends, std::span<const int> tuning = {});

}  // namespace convlab
