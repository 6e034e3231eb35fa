#pragma once

#include <string_view>
#include <vector>

#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// Returns the names of the member templates that functions call with template arguments through a class template, such
/// as `cast` in `Vector<T>::cast<4>(x)`. C++ wants `template` before the name if the class depends on a template
/// parameter, and allows it otherwise. nvcc does without.
std::vector<std::string_view> calls_of_member_templates(const std::vector<Token>& tokens);

}  // namespace convlab
