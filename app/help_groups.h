#pragma once

#include <array>
#include <string_view>

namespace convlab::app {

/// The headings under which --help lists a command's options, in this order. The first has what most users need.
constexpr std::array<std::string_view, 4> kHelpGroups = {"Options", "Image preprocessing", "Measuring", "Advanced"};

/// The heading of an option such as "--repeat", the same in all commands.
std::string_view help_group_of(std::string_view option);

}  // namespace convlab::app
