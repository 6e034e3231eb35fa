#pragma once

#include <string>
#include <string_view>

#include "convlab/judge/judgement.h"

namespace convlab::classroom {

/// A judgement of which no part is longer than what people read: the judge takes parts of it from a submission's own
/// process, and it is stored, published and shown many times.
judge::Judgement bounded(judge::Judgement judgement);

/// A text without the folders of absolute paths: "/srv/class/jobs/1-3/x.json: broken" becomes "x.json: broken".
std::string without_folders(std::string_view text);

}  // namespace convlab::classroom
