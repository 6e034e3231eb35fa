#pragma once

#include <filesystem>
#include <vector>

namespace convlab::judge {

/// The program convlab-jail, which lies beside this one, and the libraries that it loads: what a jail must show of it.
/// Error(unavailable) if it is not there.
const std::vector<std::filesystem::path>& jail_program();

}  // namespace convlab::judge
