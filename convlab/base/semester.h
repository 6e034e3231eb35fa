#pragma once

#include <string>
#include <vector>

namespace convlab {

/// Returns the semesters whose networks are known, in order.
std::vector<std::string> semesters();

/// Returns what relates an unknown name to `names`, which may be semesters: "; fa20 used the network of sp25",
/// "; the nearest are fa19, sp25"; "" if it is not a semester of about that time, or one of `names`.
std::string semester_hint(const std::string& text, const std::vector<std::string>& names);

}  // namespace convlab
