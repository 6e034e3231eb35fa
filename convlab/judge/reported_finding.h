#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "convlab/diagnostics/finding.h"

namespace convlab::judge {

/// Makes a finding that untrusted text may have shaped safe to show: short, printable texts, and places in `source`
/// only, so that no other file is opened for its lines.
void restrict_to(const std::filesystem::path& source, Finding& finding);

/// The first of `answer`'s "findings", to show to the submission's student: with short, printable texts, and with
/// places in `source` only. nullopt if there is none, or if it is malformed.
///
/// The sandboxed process that answers runs the submission, which may have written anything. So no path of the finding
/// is opened, and a note says who reports it.
std::optional<Finding> reported_finding(const nlohmann::ordered_json& answer, const std::filesystem::path& source);

}  // namespace convlab::judge
