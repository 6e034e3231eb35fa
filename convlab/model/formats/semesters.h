#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convlab {

/// Returns the semesters whose networks are shipped, the oldest first.
std::vector<std::string_view> semesters_with_networks();

/// Returns "fa20 used the network of sp25", "the nearest are fa19, sp25", or "" for what is not a semester.
std::string nearest_semesters(const std::string& text);

/// Returns " (did you mean 'fa19'?)" for a misspelt name, nearest_semesters() in parentheses for a semester, or "".
std::string suggested(const std::string& name, const std::vector<std::string>& names);

}  // namespace convlab
