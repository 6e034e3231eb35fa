#pragma once

#include <cstddef>
#include <span>

#include "convlab/model/op.h"

namespace convlab {

/// Whether an input with these shapes is a constant in most networks, for problems that a user types (see step_text.h).
bool is_usually_constant(const Op& op, std::span<const Shape> inputs, size_t input);

}  // namespace convlab
