#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/verify/file_judge.h"

namespace convlab::app {

/// One question to a kernel file.
struct FileCase {
  /// Questions of the other purposes come last, and are for a file that is right wherever its verdict depends on it.
  enum class Purpose : uint8_t {
    verdict,     ///< right here?
    unzeroed,    ///< also if its output is not zeros before?
    other_shape  ///< also on a shape that no semester has?
  };

  ConvProblem problem;
  Purpose purpose = Purpose::verdict;

  FileJudge::Before before() const {
    return purpose == Purpose::unzeroed ? FileJudge::Before::uninitialized : FileJudge::Before::zeros;
  }
};

/// A question about each problem.
std::vector<FileCase> cases_of(const std::vector<ConvProblem>& problems, FileCase::Purpose purpose);

/// As text for a guest's arguments: "verdict:n10_c1h70w70_k12r5s5", and back.
std::string case_text(const FileCase& each);
FileCase parse_case(const std::string& text);

}  // namespace convlab::app
