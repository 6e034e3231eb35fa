#pragma once

#include <string>

namespace convlab::simt {

/// The first kernel of a loaded library whose own static shared arrays are larger than a GPU takes, in ptxas' words; ""
/// if there is none. `address`: any in the library.
std::string static_shared_excess(const void* address);

}  // namespace convlab::simt
