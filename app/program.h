#pragma once

#include <span>

#include "app/command.h"

namespace convlab::app {

/// What --help prints about a program before its commands.
struct ProgramInfo {
  const char *name, *summary;
  Examples examples;
  /// Called before the options are parsed.
  void (*begin)(int argc, char** argv) = nullptr;
};

/// Thrown to end a command with this exit status after it has printed what is wrong.
struct ExitStatus {
  int status;
};

/// The body of main(): runs the command that the arguments name. The only place that turns a failure into a message and
/// an exit status, which it returns: 0 success, 1 a wrong result, 2 bad usage or input, 3 something requested is not
/// available.
int run_program(const ProgramInfo& program, std::span<const Command> commands, int argc, char** argv);

}  // namespace convlab::app
