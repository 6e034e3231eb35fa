#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"

namespace convlab {

/// The errors and warnings in what GCC, clang or nvcc printed, each with the notes that follow it: lines of the form
/// "conv.cu:31:5: error: ..." and "conv.cu(31): error: ...". All other lines are left out.
std::vector<Finding> findings_in(std::string_view compiler_output);

/// The kinds of these findings.
inline constexpr std::string_view kCompileError = "compile error", kCompilerWarning = "compiler warning";

}  // namespace convlab
