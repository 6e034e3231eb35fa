#pragma once

#include <string>

namespace convlab {

/// Describes the signal that ended a process, for the author of its code: "SIGSEGV (segmentation fault: ...)".
std::string signal_text(int signal);

}  // namespace convlab
