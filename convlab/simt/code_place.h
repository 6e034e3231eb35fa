#pragma once

#include <string>

namespace convlab::simt {

/// Where the calling thread is in this library's code, the innermost call: "mine.cu:31"; "" if it is not in it, or in a
/// kernel, whose small stack has no room for this. Meant for the signal handler of a process that hangs and is about to
/// be ended: it allocates memory, which may hang once more.
std::string place_in_library(const std::string& library);

}  // namespace convlab::simt
