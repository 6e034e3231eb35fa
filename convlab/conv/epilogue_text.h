#pragma once

#include <string_view>

#include "convlab/conv/epilogue.h"

namespace convlab {

/// An epilogue from what to_text() gives: "bias+max2x2/2+tanh", "swish", "clip(0,6)", "". Pools have no padding and no
/// dilation. Error(bad_input) that begins with `what` and says what is wrong, and what may stand there.
Epilogue parse_epilogue(std::string_view text, std::string_view what);

}  // namespace convlab
