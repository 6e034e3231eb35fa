#pragma once

#include <string>

#include "app/class/member.h"
#include "app/results/output.h"

namespace convlab::app {

// Writes submissions as text and as JSON.

/// Returns the submission's number, or its receipt if it has no number yet.
std::string name_of(const Seen& seen);

/// Returns the state in one line, which may be long: "queued, position 2 in the simt queue, due in 3:05", "verifying",
/// "PASSED, fp32, 0.412x the reference time (0.405 to 0.420)".
std::string state_text(const Seen& seen);

/// Returns all details: verdict, reason, what to do, each layer's times, and the stages with their logs. The logs are
/// indented, so that no line of a submission can look like one of ours.
std::string details_text(const Seen& seen);

/// Writes {"submissions": [{"number", "name", "assignment", "stage", "verdict", "reason", "place", "due_s", "ratio",
/// ...}]}.
void write_json(Output& output, const std::vector<Seen>& seen);

/// Throws Error(wrong_result) if the submission has a verdict other than PASSED.
void require_passed(const Seen& seen);

}  // namespace convlab::app
