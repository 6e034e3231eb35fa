#pragma once

#include <cstdint>

#include "convlab/model/elementwise.h"

namespace convlab {

/// Returns whether apply_vector_function() has this kind: sqrt, exp, erf and the activations built from them.
bool has_vector_function(UnaryKind kind);

/// Computes to[i] = function(from[i]) for a kind with has_vector_function(); `to` may equal `from`. The error is at
/// most 8 ulp of the result, or of the largest term if the result is a sum.
void apply_vector_function(UnaryKind kind, float alpha, float beta, const float* from, float* to, int64_t count);

}  // namespace convlab
