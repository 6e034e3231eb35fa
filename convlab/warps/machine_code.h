#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace convlab {

/// What one instruction of x86-64 is to somebody who counts what a GPU would issue in its place.
struct HostInstruction {
  enum class Kind : uint8_t {
    other,     ///< copies registers, calls, returns: a GPU has registers enough and no instrumentation
    integer,   ///< arithmetic, comparisons, shifts, addresses with an index, conversions
    division,  ///< of integers
    add,       ///< of floats or doubles, also a subtraction
    multiply,  ///< likewise
    divide,    ///< likewise, also a square root
    branch,    ///< conditional or not
  };
  size_t bytes = 0;
  Kind kind = Kind::other;
};

/// The instruction at `code`, of the base set with SSE2: what compilers make of a kernel for simt. nullopt for any
/// other, or where it does not end before `end`.
std::optional<HostInstruction> decode(const unsigned char* code, const unsigned char* end);

/// One basic block, once.
struct BlockCode {
  int64_t float_operations = 0;  ///< additions, multiplications, divisions and square roots of floats and doubles
  /// Instructions that a GPU would issue for the block's arithmetic and branches, about: a multiplication and an
  /// addition are one, an integer division 20 (CUDA C++ Programming Guide, "Arithmetic Instructions": up to 20).
  /// Accesses to memory are not among them.
  int64_t instructions = 0;
};

/// `begin` is the return address of the call of __sanitizer_cov_trace_pc at the block's head, and the block ends at the
/// next such call, at `end`, or where an instruction is unknown. nullopt on other processors than x86-64.
std::optional<BlockCode> block_code(const void* begin, const void* end);

}  // namespace convlab
