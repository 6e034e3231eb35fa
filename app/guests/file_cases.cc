#include "app/guests/file_cases.h"

#include <fmt/format.h>

namespace convlab::app {
namespace {

constexpr std::string_view kZeros = "zeros:", kPoison = "poison:";

}  // namespace

std::string case_text(const FileCase& each) {
  return fmt::format("{}{}", each.before == FileJudge::Before::zeros ? kZeros : kPoison, to_text(each.problem));
}

FileCase parse_case(const std::string& text) {
  const bool poison = text.starts_with(kPoison);
  return {parse_problem(text.substr(poison ? kPoison.size() : kZeros.size())),
          poison ? FileJudge::Before::poison : FileJudge::Before::zeros};
}

}  // namespace convlab::app
