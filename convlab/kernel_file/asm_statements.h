#pragma once

#include <vector>

#include "convlab/kernel_file/edits.h"
#include "convlab/kernel_file/tokens.h"

namespace convlab {

/// Returns what turns the asm statements with PTX into calls of convlab/simt/ptx/inline_ptx.h, also in the bodies of
/// macros. The parts that stay keep their lines. Statements for the host's assembler stay as they are: PTX ends in a
/// semicolon or brace, and its constraints are single letters that inline PTX has.
std::vector<Rewrite> rewritten_asm_statements(const std::vector<Token>& tokens);

}  // namespace convlab
