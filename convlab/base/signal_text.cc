#include "convlab/base/signal_text.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

namespace convlab {

std::string signal_text(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV, an address that it may not touch";
    case SIGABRT:
      return "SIGABRT, abort()";
    case SIGFPE:
      return "SIGFPE, an integer division by zero or its like";
    case SIGBUS:
      return "SIGBUS, an address that is not there";
    case SIGILL:
      return "SIGILL, an instruction that the processor does not have";
    case SIGKILL:
      return "SIGKILL, perhaps because it took too much memory";
    case SIGXCPU:
      return "SIGXCPU, because it took too much time";
    case SIGXFSZ:
      return "SIGXFSZ, because it wrote too much to a file";
    default:
      return fmt::format("signal {}, {}", signal, ::strsignal(signal));
  }
}

}  // namespace convlab
