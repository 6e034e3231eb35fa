#pragma once

#include <string>

#include "app/class/member.h"
#include "app/results/output.h"

namespace convlab::app {

// How submissions are told, in text and as JSON.

/// Its number or, before it has one, its receipt.
std::string name_of(const Seen& seen);

/// "queued, position 2 in the simt queue, due in 3:05", "verifying", "PASSED, fp32, 0.412x the reference time (0.405 to
/// 0.420)"; in one line, which may be long.
std::string state_text(const Seen& seen);

/// Everything about one: verdict, reason, what to do, each layer's times, and the stages with their logs, indented, so
/// that no line of a submission looks like one of ours.
std::string details_text(const Seen& seen);

/// {"submissions": [{"number", "name", "assignment", "stage", "verdict", "reason", "place", "due_s", "ratio", ...}]}.
void write_json(Output& output, const std::vector<Seen>& seen);

/// Of a submission that has a verdict: Error(wrong_result) unless it passed.
void require_passed(const Seen& seen);

}  // namespace convlab::app
