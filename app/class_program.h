#pragma once

#include <string_view>

namespace convlab::app {

/// The command whose own commands are another program's, convlab-class: whoever has no class builds nothing of it.
inline constexpr std::string_view kClassCommand = "class";

/// Becomes that program, with these arguments, of which the last is a null pointer. It lies beside this one, otherwise
/// in PATH. Error(unavailable), with how to build it, where it is not there.
[[noreturn]] void start_class_program(char** arguments);

}  // namespace convlab::app
