#pragma once

#include <optional>
#include <string>

#include "convlab/classroom/queue.h"
#include "convlab/classroom/store.h"
#include "convlab/classroom/web/page.h"

namespace convlab::classroom {

/// What became of one, in a few words: "queued, position 3", "verifying", "PASSED, fp32".
std::string state_of(const Submission& submission, const std::optional<Turn>& turn);

/// A submission for who handed it in: its stages, verdict, times and counters, and what the stages said. It is loaded
/// anew until there is a verdict. `turn`: of one that waits. `has_worker`: somebody is at work on such ones. Whatever
/// the judgement holds, the page is not longer than about 200 KB.
std::string submission_page(const Frame& frame, const Submission& submission, const std::optional<Turn>& turn,
                            bool has_worker);

/// One that nobody has taken in yet, by its receipt.
std::string arrived_page(const Frame& frame, const std::string& receipt);

}  // namespace convlab::classroom
