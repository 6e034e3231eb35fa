// Converts the cases of a kernel file to text and back.

#include "app/guests/file_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "convlab/base/error.h"

namespace convlab::app {
namespace {

constexpr std::array<std::string_view, 3> kPurposes{"verdict", "unzeroed", "other_shape"};

}  // namespace

std::vector<FileCase> cases_of(const std::vector<ConvProblem>& problems, FileCase::Purpose purpose) {
  std::vector<FileCase> cases;
  for (const ConvProblem& problem : problems) cases.push_back({problem, purpose});
  return cases;
}

std::string case_text(const FileCase& each) {
  return fmt::format("{}:{}", kPurposes[static_cast<size_t>(each.purpose)], to_text(each.problem));
}

FileCase parse_case(const std::string& text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const auto purpose = std::ranges::find(kPurposes, std::string_view(text).substr(0, colon));
  if (purpose == kPurposes.end() || colon == text.size()) throw bad_input("'{}' is not a case to verify", text);
  return {parse_problem(text.substr(colon + 1)), static_cast<FileCase::Purpose>(purpose - kPurposes.begin())};
}

}  // namespace convlab::app
