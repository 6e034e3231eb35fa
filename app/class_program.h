#pragma once

#include <string_view>

namespace convlab::app {

/// The command that a separate program, convlab-class, implements, so that users without a class need not build it.
inline constexpr std::string_view kClassCommand = "class";

/// Replaces this process with convlab-class, found next to this program or in PATH. `arguments` ends with a null
/// pointer. Throws Error(unavailable), with how to build it, if it is not found.
[[noreturn]] void start_class_program(char** arguments);

}  // namespace convlab::app
