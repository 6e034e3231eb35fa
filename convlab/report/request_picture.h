#pragma once

#include <string>
#include <string_view>

#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// Returns a figure of the line's example request: 32 lanes down; across, the shared memory banks or global memory
/// sectors that they access. The caption says what the request costs, and `why` it is shown: "takes most sectors". ""
/// without an example, and for constant memory.
std::string request_picture(const LineCounts& line, std::string_view why);

}  // namespace convlab
