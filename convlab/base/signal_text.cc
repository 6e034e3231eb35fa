// Describes the signals that end processes.

#include "convlab/base/signal_text.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

namespace convlab {

std::string signal_text(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV (segmentation fault: invalid memory access)";
    case SIGABRT:
      return "SIGABRT (abort)";
    case SIGFPE:
      return "SIGFPE (arithmetic error: possibly an integer division by zero)";
    case SIGBUS:
      return "SIGBUS (bus error: nonexistent memory address)";
    case SIGILL:
      return "SIGILL (illegal instruction)";
    case SIGKILL:
      return "SIGKILL (killed: possibly out of memory)";
    case SIGXCPU:
      return "SIGXCPU (CPU time limit exceeded)";
    case SIGXFSZ:
      return "SIGXFSZ (file size limit exceeded)";
    default:
      return fmt::format("signal {} ({})", signal, ::strsignal(signal));
  }
}

}  // namespace convlab
