#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// A function that stands for a kernel where it is launched: with the kernel's template head and parameters, so that
/// C++ itself finds the overload, deduces, converts and knows the defaults. It returns the kernel with its arguments.
struct KernelBinder {
  std::string_view kernel;  ///< its name in the source
  std::string_view after;   ///< the brace that ends the kernel: from there on the binder is known
  std::string text;         ///< its definition, in one line
};

/// "convlab_bind_" and the kernel's name.
std::string binder_name(std::string_view kernel);

/// Those of the kernels that are defined here. None for what our tokens do not tell well enough: parameters without a
/// name, pointers to functions, definitions that the preprocessor puts together. Such kernels are launched by their
/// address.
std::vector<KernelBinder> kernel_binders(const std::vector<Token>& tokens);

/// A compiler's words with the kernels' names in place of the binders'.
std::string without_binders(std::string complaint);

}  // namespace convlab
