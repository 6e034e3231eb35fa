#pragma once

#include <string>
#include <vector>

namespace convlab {

class JsonMembers;

/// Output of `convlab verify FILE` for one kernel file.
struct SavedVerdict {
  std::string file, verdict;         ///< as the user typed it; "PASSED", "FAILED", "NOT_COMPILED", ...
  std::vector<std::string> reasons;  ///< for the file, and for each case that failed: "conv: 3 elements are wrong, ..."
  std::vector<std::string> cases;    ///< the problems on which the verdict is based: "n10_c1h70w70_k12r5s5"
  double largest_error = 0;          ///< largest error / largest value

  bool passed() const { return verdict == "PASSED"; }
};

/// Returns one verdict per file. Throws Error(bad_input) with the location and the member that is wrong.
std::vector<SavedVerdict> saved_verdicts_from_json(const JsonMembers& from);

}  // namespace convlab
