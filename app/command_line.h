#pragma once

#include <span>

#include "app/program.h"

namespace convlab::app {

/// Parses main()'s arguments and runs the command that they name, or prints the help or the version that they ask for.
/// Error(bad_input) where they make no sense, with what was probably meant; and what the command throws.
void run_command_line(const ProgramInfo& program, std::span<const Command> commands, int argc, char** argv);

}  // namespace convlab::app
