#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convlab/verify/file_judge.h"

namespace convlab::app {

/// A convolution that a kernel file has to compute, and what it checks.
struct FileCase {
  /// Cases other than `verdict` come last and run only if all `verdict` cases passed.
  enum class Purpose : uint8_t {
    verdict,     ///< decides the file's verdict
    unzeroed,    ///< is it also correct if the output is not zeroed before the call?
    other_shape  ///< is it also correct for a shape that no semester has?
  };

  ConvProblem problem;
  Purpose purpose = Purpose::verdict;

  FileJudge::Before before() const {
    return purpose == Purpose::unzeroed ? FileJudge::Before::uninitialized : FileJudge::Before::zeros;
  }
};

/// Returns one case per problem.
std::vector<FileCase> cases_of(const std::vector<ConvProblem>& problems, FileCase::Purpose purpose);

/// Converts a case to text for a child process's arguments, "verdict:n10_c1h70w70_k12r5s5", and back.
std::string case_text(const FileCase& each);
FileCase parse_case(const std::string& text);

}  // namespace convlab::app
