#pragma once

#include <string>

namespace convlab {

struct Resource;

/// Three digits and a prefix: "12.3 M", "931 G", "250".
std::string amount(double value);

/// "8.60 ms", of seconds.
std::string milliseconds(double seconds);

/// "8.01 G warp instructions / 931 G a second = 8.60 ms".
std::string arithmetic(const Resource& resource);

}  // namespace convlab
