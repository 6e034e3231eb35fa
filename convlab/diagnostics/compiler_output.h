#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convlab/diagnostics/finding.h"

namespace convlab {

/// Returns the errors and warnings in the output of GCC, clang or nvcc, each with the notes that follow it: lines of
/// the form "conv.cu:31:5: error: ..." and "conv.cu(31): error: ...". Ignores all other lines.
std::vector<Finding> findings_in(std::string_view compiler_output);

/// The kinds of these findings.
inline constexpr std::string_view kCompileError = "compile error", kCompilerWarning = "compiler warning";

}  // namespace convlab
