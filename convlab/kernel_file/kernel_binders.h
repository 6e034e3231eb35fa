#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// A generated function that replaces a kernel at its launch. It has the kernel's template head and parameter list, so
/// C++ itself resolves overloads, deduces template arguments, converts arguments and applies defaults. It returns the
/// kernel bound to its arguments.
struct KernelBinder {
  std::string_view kernel;  ///< the kernel's name in the source
  std::string_view after;   ///< the kernel's closing brace; the binder is declared right after it
  std::string text;         ///< the binder's definition, on one line
};

/// Returns "convlab_bind_" followed by the kernel's name.
std::string binder_name(std::string_view kernel);

/// Returns binders for the kernels defined in these tokens. Skips kernels that the tokens do not describe well enough:
/// arrays without a name, function pointers, or definitions assembled by the preprocessor. Those kernels are launched
/// by address.
std::vector<KernelBinder> kernel_binders(const std::vector<Token>& tokens);

/// Replaces binder names in compiler output with the kernels' names.
std::string without_binders(std::string complaint);

}  // namespace convlab
