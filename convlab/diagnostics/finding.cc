// Implements findings: text and JSON that all output formats share, and merging of equal causes.

#include "convlab/diagnostics/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace convlab {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the number after the text's last colon, and removes both from the text; nullopt if there is none.
std::optional<int> take_number(std::string_view& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, number);
  if (error != std::errc() || stop != end || number < 1) return std::nullopt;
  text = text.substr(0, colon);
  return number;
}

std::string without_digits(std::string text) {
  std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
  return text;
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "?";
}

SourcePlace parse_place(std::string_view text) {
  const std::optional<int> last = take_number(text);
  if (!last) return {std::string(text), 0, 0};
  const std::optional<int> before = take_number(text);
  return before ? SourcePlace{std::string(text), *before, *last} : SourcePlace{std::string(text), *last, 0};
}

std::string to_text(const SourcePlace& place) {
  if (place.line == 0) return place.file;
  if (place.column == 0) return fmt::format("{}:{}", place.file, place.line);
  return fmt::format("{}:{}:{}", place.file, place.line, place.column);
}

std::string short_text(const SourcePlace& place) {
  return to_text({std::filesystem::path(place.file).filename().string(), place.line, 0});
}

SourcePlace place_of(const Finding& finding) {
  return finding.labels.empty() ? SourcePlace{} : finding.labels.front().place;
}

bool same_cause(const Finding& a, const Finding& b) {
  if (a.kind != b.kind || a.severity != b.severity) return false;
  const auto same_line = [](const Label& one, const Label& other) {
    return one.place.file == other.place.file && one.place.line == other.place.line;
  };
  if (!std::ranges::equal(a.labels, b.labels, same_line)) return false;
  return place_of(a).line != 0 || without_digits(a.text) == without_digits(b.text);
}

std::string remarks(const Finding& finding, bool with_details) {
  std::vector<std::string> all;
  if (!finding.kernel.empty()) {
    all.push_back(fmt::format("kernel {}{}{}", finding.kernel, finding.block.empty() ? "" : ", block ", finding.block));
  }
  all.insert(all.end(), finding.notes.begin(), finding.notes.end());
  if (with_details) all.insert(all.end(), finding.details.begin(), finding.details.end());
  return fmt::format("{}", fmt::join(all, "; "));
}

std::vector<Finding> merged(std::vector<Finding> findings) {
  std::vector<std::vector<Finding>> causes;
  for (Finding& each : findings) {
    const auto known = std::ranges::find_if(
        causes, [&](const std::vector<Finding>& cause) { return same_cause(each, cause.front()); });
    if (known == causes.end()) {
      causes.push_back({std::move(each)});
    } else {
      known->push_back(std::move(each));
    }
  }
  std::vector<Finding> all;
  for (std::vector<Finding>& cause : causes) {
    std::map<std::string, int64_t> counts;
    int64_t count = 0;
    for (const Finding& each : cause) {
      counts[each.help] += each.count;
      count += each.count;
    }
    const auto best = std::ranges::max_element(cause, {}, [&](const Finding& each) { return counts[each.help]; });
    best->count = count;
    all.push_back(std::move(*best));
  }
  return all;
}

std::string with_labels(const Finding& finding, std::string (*write_place)(const SourcePlace&)) {
  std::string text = finding.text;
  for (size_t i = 0; i < finding.labels.size(); ++i) {
    const Label& label = finding.labels[i];
    if (label.text.empty()) continue;
    text += (i == 0 ? ": " : "; ") + label.text;
    if (i > 0 && label.place.line != 0) text += " at " + write_place(label.place);
  }
  return text;
}

std::string in_one_line(const Finding& finding) {
  std::string text = with_labels(finding, short_text);
  if (const std::string all = remarks(finding, true); !all.empty()) text += fmt::format(" ({})", all);
  const SourcePlace place = place_of(finding);
  if (!place.file.empty()) text += ", at " + short_text(place);
  return text;
}

std::string message_of(const Finding& finding) {
  return in_one_line(finding) + (finding.help.empty() ? "" : "; help: " + finding.help);
}

Json to_json(const Finding& finding) {
  Json labels = Json::array();
  for (const Label& label : finding.labels) {
    labels.push_back({{"file", label.place.file},
                      {"line", label.place.line},
                      {"column", label.place.column},
                      {"text", label.text},
                      {"thread", label.thread},
                      {"subject", label.subject},
                      {"writes_it", label.writes_it}});
  }
  return {{"severity", name_of(finding.severity)},
          {"kind", finding.kind},
          {"text", finding.text},
          {"kernel", finding.kernel},
          {"block", finding.block},
          {"array", finding.array},
          {"labels", std::move(labels)},
          {"notes", finding.notes},
          {"details", finding.details},
          {"help", finding.help},
          {"count", finding.count}};
}

Finding finding_of(const Json& json) try {
  Finding finding{.kind = json.at("kind").get<std::string>(),
                  .text = json.at("text").get<std::string>(),
                  .kernel = json.at("kernel").get<std::string>(),
                  .block = json.at("block").get<std::string>(),
                  .array = json.at("array").get<std::string>(),
                  .notes = json.at("notes").get<std::vector<std::string>>(),
                  .details = json.at("details").get<std::vector<std::string>>(),
                  .help = json.at("help").get<std::string>(),
                  .count = json.at("count").get<int64_t>()};
  const auto severity = json.at("severity").get<std::string>();
  finding.severity = severity == "error" ? Severity::error : severity == "warning" ? Severity::warning : Severity::note;
  for (const Json& label : json.at("labels")) {
    finding.labels.push_back(
        {.place = {label.at("file").get<std::string>(), label.at("line").get<int>(), label.at("column").get<int>()},
         .text = label.at("text").get<std::string>(),
         .thread = label.at("thread").get<std::string>(),
         .subject = label.at("subject").get<std::string>(),
         .writes_it = label.at("writes_it").get<bool>()});
  }
  return finding;
} catch (const nlohmann::json::exception& error) {
  throw bad_input("a finding in JSON: {}", error.what());
}

std::vector<Finding> findings_in(std::string_view file, const Error& error) {
  std::vector<Finding> findings;
  if (const auto* known = dynamic_cast<const FindingError*>(&error)) findings = known->findings();
  if (findings.empty()) findings.push_back({.text = error.what()});
  for (Finding& finding : findings) finding.labels = {{.place = {.file = std::string(file)}}};
  return findings;
}

FindingError in_file(std::string_view file, const Error& error) {
  return {error.kind(), fmt::format("{}: {}", file, error.what()), findings_in(file, error)};
}

}  // namespace convlab
