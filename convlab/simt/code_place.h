#pragma once

#include <string>

namespace convlab::simt {

/// Returns the source line of the calling thread's innermost call in this library: "mine.cu:31". Returns "" if the
/// thread is not in the library, or is in a kernel, whose small stack has no room for the lookup. Meant for the signal
/// handler of a process that hangs and is about to be ended: it allocates memory, which may hang again.
std::string place_in_library(const std::string& library);

}  // namespace convlab::simt
