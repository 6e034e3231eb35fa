#pragma once

#include <string_view>

#include "convlab/conv/epilogue.h"

namespace convlab {

/// Parses an epilogue in the format of to_text(): "bias+max2x2/2+tanh", "swish", "clip(0,6)", "". Pools have no padding
/// and no dilation. Throws Error(bad_input) that begins with `what` and says what is wrong and what is allowed.
Epilogue parse_epilogue(std::string_view text, std::string_view what);

}  // namespace convlab
