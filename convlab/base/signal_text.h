#pragma once

#include <string>

namespace convlab {

/// What ended a process, for whoever wrote its code: "SIGSEGV, an address that it may not touch".
std::string signal_text(int signal);

}  // namespace convlab
