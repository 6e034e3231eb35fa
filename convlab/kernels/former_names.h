#pragma once

#include <span>
#include <string_view>
#include <utility>

namespace convlab {

/// Returns the name that a kernel has now: that of the second column if `name` is in the first column of
/// former_names(), otherwise `name`. Command lines, plan files and Records may have a kernel's former name.
std::string_view present_name(std::string_view name);

/// Returns former and present names, ordered by former name.
std::span<const std::pair<std::string_view, std::string_view>> former_names();

}  // namespace convlab
