#pragma once

#include "convlab/kernels/kernel.h"

namespace convlab {

/// How tiles of bf16 are multiplied. vectors: float32 arithmetic on the same operands, on any processor; avx512_bf16:
/// the AVX-512 instruction for bf16 pairs; amx: Intel's tile registers.
enum class Bf16Unit { vectors, avx512_bf16, amx };

/// Returns whether this processor has the unit, this build has code for it, and the operating system lets this process
/// use it. Requests AMX from the system once.
bool has_unit(Bf16Unit unit);

/// Returns a reason if has_unit() is false.
Refusal refuse_without(Bf16Unit unit);

}  // namespace convlab
