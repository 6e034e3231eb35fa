#pragma once

#include "convlab/kernels/kernel.h"

namespace convlab {

/// What multiplies tiles of bfloat16. vectors: float32 arithmetic of the same operands, on any processor; avx512_bf16:
/// an instruction of AVX-512 for pairs; amx: Intel's tile registers.
enum class Bf16Unit { vectors, avx512_bf16, amx };

/// Whether this processor has it, this build has code for it, and the system lets this process use it: it asks for AMX
/// once.
bool has_unit(Bf16Unit unit);

/// A refusal where has_unit() is false.
Refusal refuse_without(Bf16Unit unit);

}  // namespace convlab
