#pragma once

#include <string>
#include <vector>

namespace convlab {

class JsonMembers;

/// What `convlab verify FILE` said of a kernel file.
struct SavedVerdict {
  std::string file, verdict;         ///< as its user typed it; "PASSED", "FAILED", "NOT_COMPILED", ...
  std::vector<std::string> reasons;  ///< of the file, and of each case that failed: "conv: 3 elements are wrong, ..."
  std::vector<std::string> cases;    ///< the problems on which the verdict rests: "n10_c1h70w70_k12r5s5"
  double largest_error = 0;          ///< over the largest value

  bool passed() const { return verdict == "PASSED"; }
};

/// One for each file. Error(bad_input) with the place and the member that is wrong.
std::vector<SavedVerdict> saved_verdicts_from_json(const JsonMembers& from);

}  // namespace convlab
