#pragma once

#include <string>

#include "convlab/verify/file_judge.h"

namespace convlab::app {

/// One question to a kernel file.
struct FileCase {
  ConvProblem problem;
  FileJudge::Before before = FileJudge::Before::zeros;
};

/// As text for a guest's arguments: "zeros:n10_c1h70w70_k12r5s5", and back.
std::string case_text(const FileCase& each);
FileCase parse_case(const std::string& text);

}  // namespace convlab::app
