#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convlab::simt::internal {

/// Returns the names of a kernel's parameters, in order, from its definition in a source: {"y", "n"} for
/// `__global__ void fill(float* y, int n) {`; "" for one without a name. Returns an empty vector if the source has no
/// declaration of the kernel.
std::vector<std::string> parameters_in_source(std::string_view source, std::string_view kernel);

/// Returns the `extern __shared__` array that a line of a source names, such as "tile"; "" if it names none.
std::string dynamic_array_in_source(std::string_view source, std::string_view line);

}  // namespace convlab::simt::internal
