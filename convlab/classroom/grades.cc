// Writes grades as CSV.

#include "convlab/classroom/grades.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

namespace convlab::classroom {
namespace {

constexpr std::string_view kFormulaBegins = "=+-@\t\r\n";
constexpr std::string_view kQuoted = ",\"\r\n";

}  // namespace

std::string csv_field(const std::string& text) {
  const bool formula = !text.empty() && kFormulaBegins.find(text[0]) != std::string_view::npos;
  std::string value = formula ? "'" + text : text;
  if (value.find_first_of(kQuoted) == std::string::npos) return value;
  std::string quoted = "\"";
  for (const char each : value) quoted += each == '"' ? "\"\"" : std::string(1, each);
  return quoted + "\"";
}

std::string grades_csv(const std::vector<Grade>& grades) {
  std::vector<Grade> sorted = grades;
  std::ranges::stable_sort(sorted, {}, [](const Grade& each) { return std::tie(each.name, each.assignment); });
  std::string text = "name,assignment,submission,verdict,class,ratio,low,high,rank,points\r\n";
  for (const Grade& each : sorted) {
    text += fmt::format("{},{}", csv_field(each.name), csv_field(each.assignment));
    if (!each.entry) {
      text += fmt::format(",,{},,,,,,0\r\n", csv_field(each.verdict));
      continue;
    }
    const RankingEntry& entry = *each.entry;
    text += fmt::format(",{},{},{}", entry.best.submission, csv_field(each.verdict), csv_field(entry.best.math));
    text += entry.best.bounds ? fmt::format(",{:.4f},{:.4f},{:.4f}", entry.best.bounds->ratio, entry.best.bounds->low,
                                            entry.best.bounds->high)
                              : ",,,";
    text += fmt::format(",{},{:.2f}\r\n", entry.rank, entry.points);
  }
  return text;
}

}  // namespace convlab::classroom
