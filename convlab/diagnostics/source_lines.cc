// Reads source lines for excerpts and finds columns for carets.

#include "convlab/diagnostics/source_lines.h"

#include <fstream>
#include <sstream>
#include <utility>

#include "convlab/base/names.h"

namespace convlab {
namespace {

constexpr size_t kMostBytes = size_t{4} << 20;  // read per file; source files are far smaller

std::vector<std::string> lines_of(std::istream& text) {
  std::vector<std::string> lines;
  size_t bytes = 0;
  for (std::string line; bytes < kMostBytes && std::getline(text, line);) {
    bytes += line.size() + 1;
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace

void SourceLines::add(const std::string& file, std::string_view text) {
  std::istringstream stream{std::string(text)};
  files_.insert_or_assign(file, lines_of(stream));
}

std::optional<std::string> SourceLines::line(const std::string& file, int number) {
  if (file.empty() || number < 1) return std::nullopt;
  auto found = files_.find(file);
  if (found == files_.end()) {
    std::ifstream stream(file, std::ios::binary);
    found = files_.emplace(file, lines_of(stream)).first;
  }
  const std::vector<std::string>& lines = found->second;
  const auto index = static_cast<size_t>(number) - 1;
  return index < lines.size() ? std::optional(lines[index]) : std::nullopt;
}

void SourceLines::locate(Finding& finding) {
  for (Label& label : finding.labels) {
    if (label.place.column != 0) continue;
    const std::optional<std::string> text = line(label.place.file, label.place.line);
    if (!text) continue;
    label.place.column = column_of(*text, label.subject, label.writes_it);
    if (label.place.column != 0) continue;
    const size_t first = text->find_first_not_of(" \t");
    label.place.column = first == std::string::npos ? 1 : static_cast<int>(first) + 1;
  }
}

int column_of(std::string_view line, std::string_view name, bool assigned) {
  if (name.empty()) return 0;
  const size_t comment = line.find("//");
  if (comment != std::string_view::npos) line = line.substr(0, comment);
  int column = 0;
  for (size_t at = find_name(line, name); at != std::string_view::npos; at = find_name(line, name, at + 1)) {
    column = static_cast<int>(at) + 1;
    if (assigned) break;
  }
  return column;
}

}  // namespace convlab
