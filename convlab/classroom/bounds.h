#pragma once

#include <string>
#include <string_view>

#include "convlab/judge/judgement.h"

namespace convlab::classroom {

/// Returns a judgment whose parts are truncated to readable sizes. Parts of it come from the submission's own process,
/// and it is stored, published and shown many times.
judge::Judgement bounded(judge::Judgement judgement);

/// Removes folders from absolute paths in a text: "/srv/class/jobs/1-3/x.json: broken" becomes "x.json: broken".
std::string without_folders(std::string_view text);

}  // namespace convlab::classroom
