#pragma once

#include <span>

#include "app/command.h"

namespace convlab::app {

/// What --help says of a program before its commands.
struct ProgramInfo {
  const char *name, *summary;
  Examples examples;
  /// Called before anybody reads options.
  void (*begin)(int argc, char** argv) = nullptr;
};

/// Ends a command that has said what is wrong with this exit status.
struct ExitStatus {
  int status;
};

/// What main() does: runs the command that the arguments name. The one place where a failure becomes a message and an
/// exit status, which it returns: 0 done and right, 1 a wrong result, 2 bad usage or input, 3 something asked for is
/// not there.
int run_program(const ProgramInfo& program, std::span<const Command> commands, int argc, char** argv);

}  // namespace convlab::app
