#pragma once

#include <string>

namespace convlab {

/// Returns the compiler's output with errors about inline PTX at the asm statements that cause them instead of in
/// convlab/simt/ptx/inline_ptx.h, which rejects them.
std::string with_places_of_asm_statements(const std::string& complaint);

}  // namespace convlab
