#pragma once

#include <string>

namespace convlab::simt {

/// Returns ptxas' error for the first kernel of a loaded library whose own static shared arrays exceed a GPU's limit;
/// "" if there is none. `address`: any address in the library.
std::string static_shared_excess(const void* address);

}  // namespace convlab::simt
