#pragma once

#include <cstdint>
#include <optional>

namespace convlab {

/// Additions, subtractions, multiplications, divisions and square roots of floats and doubles in a basic block's machine
/// code: `begin` is the return address of the call of __sanitizer_cov_trace_pc at the block's head, and the block ends
/// at the next such call or at `end`. We look for the bytes of the scalar SSE instructions, which is what the compiler
/// makes of a kernel. nullopt on other processors than x86-64.
std::optional<int64_t> float_operations(const void* begin, const void* end);

}  // namespace convlab
