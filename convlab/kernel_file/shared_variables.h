#pragma once

#include <vector>

#include "convlab/kernel_file/edits.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// Returns what makes declarations of `__shared__` variables valid C++ for simt, also in the bodies of macros: dynamic
/// arrays become pointers, alignments attributes, and `static`, which __shared__ implies, is left out.
std::vector<Rewrite> rewritten_shared_variables(const std::vector<Token>& tokens);

}  // namespace convlab
