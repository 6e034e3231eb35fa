// Formats findings for editors, CI services and archives: GCC, GitHub Actions, SARIF.

#include "convlab/diagnostics/tool_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "convlab/base/json.h"

namespace convlab {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the rule's identifier: "race-on-shared-memory".
std::string rule_of(const Finding& finding) {
  std::string rule = finding.kind;
  std::ranges::replace(rule, ' ', '-');
  return rule;
}

/// Returns the headline with the text of each label.
std::string sentence(const Finding& finding) {
  return with_labels(finding, [](const SourcePlace& place) { return fmt::format("line {}", place.line); });
}

/// Escapes text for GitHub's workflow commands: data, or a property's value.
std::string escaped(std::string_view text, bool is_property) {
  std::string result;
  for (const char c : text) {
    const bool escapes = c == '%' || c == '\r' || c == '\n' || (is_property && (c == ':' || c == ','));
    if (escapes) {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result;
}

/// Returns a path as a URI reference (RFC 3986).
std::string uri_of(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = std::isalnum(byte) || std::string_view("/-._~+").find(c) != std::string_view::npos;
    if (is_plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", byte);
    }
  }
  return uri;
}

Json location_of(const SourcePlace& place) {
  Json physical{{"artifactLocation", {{"uri", uri_of(place.file)}}}};
  if (place.line > 0) physical["region"]["startLine"] = place.line;
  if (place.line > 0 && place.column > 0) physical["region"]["startColumn"] = place.column;
  return {{"physicalLocation", std::move(physical)}};
}

Json result_of(const Finding& finding, size_t rule) {
  std::string text = sentence(finding);
  if (!finding.help.empty()) text += ". Help: " + finding.help;
  Json result{{"ruleId", rule_of(finding)},
              {"ruleIndex", rule},
              {"level", name_of(finding.severity)},
              {"message", {{"text", text}}}};
  if (!place_of(finding).file.empty()) result["locations"] = Json::array({location_of(place_of(finding))});
  Json related = Json::array();
  for (size_t i = 1; i < finding.labels.size(); ++i) {
    const Label& label = finding.labels[i];
    if (label.place.file.empty()) continue;
    Json location{{"id", i}};
    location.update(location_of(label.place));
    location["message"] = {{"text", label.text}};
    related.push_back(std::move(location));
  }
  if (!related.empty()) result["relatedLocations"] = std::move(related);
  result["occurrenceCount"] = finding.count;
  return result;
}

}  // namespace

std::string gcc_form(const Finding& finding) {
  const std::string place = to_text(place_of(finding));
  return fmt::format("{}: {}: {} [{}]", place.empty() ? "convlab" : place, name_of(finding.severity), sentence(finding),
                     rule_of(finding));
}

std::string github_form(const Finding& finding) {
  const SourcePlace place = place_of(finding);
  std::string properties;
  if (!place.file.empty()) properties += fmt::format("file={},", escaped(place.file, true));
  if (place.line > 0) properties += fmt::format("line={},", place.line);
  if (place.column > 0) properties += fmt::format("col={},", place.column);
  std::string text = sentence(finding);
  if (!finding.help.empty()) text += "\nhelp: " + finding.help;
  const std::string_view command = finding.severity == Severity::note ? "notice" : name_of(finding.severity);
  return fmt::format("::{} {}title={}::{}", command, properties, escaped(finding.kind, true), escaped(text, false));
}

std::string sarif_form(const std::vector<Finding>& findings, const std::string& version) {
  Json rules = Json::array(), results = Json::array();
  std::vector<std::string> known;
  for (const Finding& finding : findings) {
    const std::string id = rule_of(finding);
    auto rule = std::ranges::find(known, id);
    if (rule == known.end()) {
      rules.push_back({{"id", id}, {"shortDescription", {{"text", finding.kind}}}});
      rule = known.insert(rule, id);
    }
    results.push_back(result_of(finding, static_cast<size_t>(rule - known.begin())));
  }
  const Json driver{{"name", "convlab"}, {"version", version}, {"rules", std::move(rules)}};
  return json_text({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", std::move(results)}}})}},
                   2) +
         "\n";
}

}  // namespace convlab
