#pragma once

#include <link.h>

#include <string>

namespace convlab::judge {

/// Where a compiled kernel file lies in this process, which loads it if it is not there. Error(bad_input) if it cannot.
const link_map& place_of_library(const std::string& path);

}  // namespace convlab::judge
