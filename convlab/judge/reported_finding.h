#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "convlab/diagnostics/finding.h"

namespace convlab::judge {

/// The first of `answer`'s "findings", to show to the submission's student: with short, printable texts, and with
/// places in `source` only. nullopt if there is none, or if it is malformed.
///
/// The sandboxed process that answers runs the submission, which may have written anything. So no path of the finding
/// is opened, and a note says who reports it.
std::optional<Finding> reported_finding(const nlohmann::ordered_json& answer, const std::filesystem::path& source);

}  // namespace convlab::judge
