#pragma once

#include <optional>
#include <string>

#include "convlab/classroom/queue.h"
#include "convlab/classroom/store.h"
#include "convlab/classroom/web/web_page.h"

namespace convlab::classroom {

/// Returns a submission's state in a few words: "queued, position 3", "verifying", "PASSED, fp32".
std::string state_of(const Submission& submission, const std::optional<Turn>& turn);

/// Returns the page of a submission for its student: stages, verdict, times, counters and stage logs. It reloads itself
/// until there is a verdict. `turn`: of a waiting submission. `has_worker`: whether a live worker takes jobs for its
/// device. Whatever the judgment holds, the page has at most about 200 KB.
std::string submission_page(const Frame& frame, const Submission& submission, const std::optional<Turn>& turn,
                            bool has_worker);

/// Returns the page of a submission that is still in the spool, by its receipt.
std::string arrived_page(const Frame& frame, const std::string& receipt);

}  // namespace convlab::classroom
