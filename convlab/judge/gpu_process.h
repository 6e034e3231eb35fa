#pragma once

#include <optional>

#include "convlab/judge/judgement.h"
#include "convlab/judge/work_folder.h"

namespace convlab::judge {

/// What replay_on_gpu() answers to a request, in a process of its own: convlab-class, which lies beside this program.
/// nullopt if it was not done after `limit_s`, and was ended. Error(unavailable) with its words if it cannot do it.
std::optional<Json> replayed_on_gpu(Json request, const WorkFolder& work, double limit_s);

}  // namespace convlab::judge
