#pragma once

#include <string>

namespace convlab {

/// What ended a process, for whoever wrote its code: "SIGSEGV (segmentation fault: ...)".
std::string signal_text(int signal);

}  // namespace convlab
