#pragma once

#include <optional>

#include "convlab/judge/judgement.h"
#include "convlab/judge/work_folder.h"

namespace convlab::judge {

/// Runs replay_on_gpu() on a request in a separate process, convlab-class, which is next to this program. Returns its
/// answer, or nullopt if it was killed after `limit_s`. Throws Error(unavailable) with its message if it fails.
std::optional<Json> replayed_on_gpu(Json request, const WorkFolder& work, double limit_s);

}  // namespace convlab::judge
