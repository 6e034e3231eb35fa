#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace convlab {

/// An x86-64 instruction, classified by what a GPU would issue for it.
struct HostInstruction {
  enum class Kind : uint8_t {
    other,     ///< register copies, calls, returns: a GPU has enough registers and no instrumentation
    integer,   ///< arithmetic, comparisons, shifts, indexed addresses, conversions
    division,  ///< of integers
    add,       ///< of floats or doubles, including subtraction
    multiply,  ///< of floats or doubles
    divide,    ///< of floats or doubles, including square root
    branch,    ///< conditional or not
  };
  size_t bytes = 0;
  Kind kind = Kind::other;
};

/// Decodes the instruction at `code`, which must be of the base set with SSE2: what compilers generate for a kernel in
/// simt. Returns nullopt for any other instruction, or if it does not end before `end`.
std::optional<HostInstruction> decode(const unsigned char* code, const unsigned char* end);

/// The operations of one execution of a basic block.
struct BlockCode {
  int64_t float_operations = 0;  ///< additions, multiplications, divisions and square roots of floats and doubles
  /// Approximate number of instructions that a GPU would issue for the block's arithmetic and branches. A
  /// multiplication and an addition count as one, an integer division as 20 (CUDA C++ Programming Guide, "Arithmetic
  /// Instructions": up to 20). Memory accesses are not included.
  int64_t instructions = 0;
};

/// Analyzes a basic block. `begin` is the return address of the call to __sanitizer_cov_trace_pc at the block's head.
/// The block ends at the next such call, at `end`, or at an unknown instruction. Returns nullopt on processors other
/// than x86-64.
std::optional<BlockCode> block_code(const void* begin, const void* end);

/// Returns the end of the conditional branch that the code at `begin` reaches first; nullptr if it reaches another one
/// or `end` before, or on processors other than x86-64.
const void* end_of_condition(const void* begin, const void* end);

}  // namespace convlab
