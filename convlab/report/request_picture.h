#pragma once

#include <string>
#include <string_view>

#include "convlab/warps/kernel_counts.h"

namespace convlab {

/// A figure of the line's example request: 32 lanes down, and across the banks of shared memory, or the sectors of
/// global memory, that they touch; with what it costs, and `why` it is drawn: "takes most sectors". "" where there is
/// no example, and of constant memory.
std::string request_picture(const LineCounts& line, std::string_view why);

}  // namespace convlab
