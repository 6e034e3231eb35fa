#pragma once

#include <cstdint>

#include "convlab/model/elementwise.h"

namespace convlab {

/// sqrt, exp, erf and the activations made of them.
bool has_vector_function(UnaryKind kind);

/// to[i] = the function of from[i], for a kind that has one; `to` may be `from`. At most 8 units in the last place of
/// the result, or of the largest term that it is the sum of.
void apply_vector_function(UnaryKind kind, float alpha, float beta, const float* from, float* to, int64_t count);

}  // namespace convlab
