#pragma once

#include <string>

namespace convlab {

struct Resource;

/// Returns three digits and a prefix: "12.3 M", "931 G", "250".
std::string amount(double value);

/// Returns "8.60 ms".
std::string milliseconds(double seconds);

/// Returns "8.01 G warp instructions / 931 G per s = 8.60 ms".
std::string arithmetic(const Resource& resource);

}  // namespace convlab
