#pragma once

#include <span>

#include "convlab/measure/bench.h"
#include "convlab/measure/ceilings.h"
#include "convlab/measure/record.h"

namespace convlab {

/// Times one kernel on the arrays, hot and cold. Error(wrong_result) where an output that is looked at is wrong, and
/// where the kernel takes less time than moving the arrays takes at best (or, where its sums are direct, than the
/// arithmetic): it cannot have done the work.
Record measure(const ConvKernel& kernel, BenchArrays& arrays, const Ceilings& ceilings, const Effort& effort,
               Checked checked = Checked::ends, std::span<const int> tuning = {});

}  // namespace convlab
