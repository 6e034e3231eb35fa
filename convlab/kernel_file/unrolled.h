#pragma once

#include <string>
#include <string_view>

namespace convlab {

/// Takes a kernel file preprocessed by g++ and adds unroll pragmas so that g++ unrolls loops roughly as nvcc does: as
/// requested by `#pragma unroll`, and up to 16 iterations for loops with a known trip count. System headers are
/// unchanged. simt's instruction counts depend on this, because g++ does not automatically unroll loops that contain
/// instrumentation calls.
std::string unrolled(std::string_view preprocessed);

}  // namespace convlab
