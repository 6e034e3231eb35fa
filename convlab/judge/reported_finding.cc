// Reads findings of sandboxed processes and compilers, which may be forged.

#include "convlab/judge/reported_finding.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab::judge {
namespace {

constexpr size_t kMostLabels = 4, kMostNotes = 4, kMostCharacters = 300;

void bound(std::string& text) { text = printable(text, kMostCharacters); }

}  // namespace

void restrict_to(const std::filesystem::path& source, Finding& finding) {
  finding.details.clear();
  if (finding.labels.size() > kMostLabels) finding.labels.resize(kMostLabels);
  if (finding.notes.size() > kMostNotes) finding.notes.resize(kMostNotes);
  for (std::string* text :
       {&finding.kind, &finding.text, &finding.kernel, &finding.block, &finding.array, &finding.help})
    bound(*text);
  for (std::string& note : finding.notes) bound(note);
  for (Label& label : finding.labels) {
    bound(label.text);
    bound(label.subject);
    const bool is_in_source = std::filesystem::path(label.place.file).filename() == source.filename();
    label.place.file = is_in_source ? source.string() : "";
    label.place.line = is_in_source ? std::max(label.place.line, 0) : 0;
    label.place.column = is_in_source ? std::max(label.place.column, 0) : 0;
  }
}

std::optional<Finding> reported_finding(const nlohmann::ordered_json& answer, const std::filesystem::path& source) try {
  const auto found = answer.find("findings");
  if (found == answer.end() || !found->is_array() || found->empty()) return std::nullopt;
  Finding finding = finding_of(found->front());
  finding.severity = Severity::error;
  finding.count = 1;
  restrict_to(source, finding);
  for (Label& label : finding.labels) label.place.column = 0;
  finding.notes.emplace_back("reported by the submission's process");
  return finding;
} catch (const Error&) {
  return std::nullopt;
}

}  // namespace convlab::judge
