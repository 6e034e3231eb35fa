#pragma once

#include <link.h>

#include <string>

namespace convlab::judge {

/// Returns where a compiled kernel file is loaded in this process, and loads it if necessary. Throws Error(bad_input)
/// if that fails.
const link_map& place_of_library(const std::string& path);

}  // namespace convlab::judge
