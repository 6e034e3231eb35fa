#pragma once

#include <span>

#include "app/program.h"

namespace convlab::app {

/// Parses main()'s arguments and runs the command that they name, or prints the help or the version. Throws
/// Error(bad_input), with a suggestion, if the arguments are invalid, and passes on errors of the command.
void run_command_line(const ProgramInfo& program, std::span<const Command> commands, int argc, char** argv);

}  // namespace convlab::app
