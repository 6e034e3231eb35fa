#pragma once

#include <memory>

#include "convlab/measure/bench_arrays.h"
#include "convlab/verify/oracle.h"

namespace convlab {

/// Returns the arrays of a step: ConvArrays or OpArrays. `layer` is the data of a convolution, as timed_layer() returns
/// it; if it is null, it is made, so that arrays of the same convolution in other formats can share it. Throws
/// Error(unavailable) if the device lacks memory for the arrays.
std::unique_ptr<BenchArrays> arrays_of(const Step& step, Device& device, Oracle& oracle,
                                       std::shared_ptr<const OracleLayer>& layer);

}  // namespace convlab
