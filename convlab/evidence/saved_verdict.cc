// Reads verdicts on kernel files from JSON.

#include "convlab/evidence/saved_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/measure/json_members.h"

namespace convlab {

std::vector<SavedVerdict> saved_verdicts_from_json(const JsonMembers& from) {
  std::vector<SavedVerdict> verdicts;
  from.objects("files", [&](const JsonMembers& entry) {
    SavedVerdict& saved = verdicts.emplace_back();
    std::string reason;
    entry.read("file", saved.file);
    entry.read("verdict", saved.verdict);
    entry.read("reason", reason);
    if (!reason.empty()) saved.reasons.push_back(reason);
    entry.objects("cases", [&](const JsonMembers& one) {
      std::string problem, why;
      double error = 0;
      bool counts = true;
      one.read("problem", problem);
      one.read("reason", why);
      one.read("counts", counts);
      if (!counts) return;
      one.read_if_there("largest_error", error);
      saved.largest_error = std::max(saved.largest_error, error);
      saved.cases.push_back(problem);
      if (!why.empty()) saved.reasons.push_back(fmt::format("{}: {}", problem, why));
    });
  });
  return verdicts;
}

}  // namespace convlab
