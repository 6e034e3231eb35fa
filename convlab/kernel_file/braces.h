#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "convlab/diagnostics/finding.h"

namespace convlab {

/// Returns a finding for the brace that makes a source unbalanced: a '{' without a '}', or a '}' without a '{'; nullopt
/// if all braces match. The indentation shows which of several nested braces it is: the first pair whose lines are
/// indented differently. Braces of comments, literals and macros do not count, and of the branches of an `#if` only the
/// last one does. `path` is the file's name in the finding.
std::optional<Finding> unbalanced_brace(std::string_view source, const std::string& path);

}  // namespace convlab
