#pragma once

#include <cstdint>

#include "convlab/judge/launch_list.h"

namespace convlab::judge {

/// Throws Error(bad_input) at the first operation of a list that is not valid for this problem: see read_list().
void check_list(const LaunchList& list, const ConvProblem& problem, int64_t memory_bytes);

}  // namespace convlab::judge
