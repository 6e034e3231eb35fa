#pragma once

#include <filesystem>
#include <vector>

namespace convlab::judge {

/// Returns the program convlab-jail, which is next to this program, and the libraries that it loads: the files that a
/// jail must show. Throws Error(unavailable) if it is missing.
const std::vector<std::filesystem::path>& jail_program();

}  // namespace convlab::judge
