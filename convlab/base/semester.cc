// Knows which semesters of the course used which network.

#include "convlab/base/semester.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

namespace convlab {
namespace {

/// A semester whose network is shipped, and the semesters that used this network.
struct Semester {
  std::string_view name, first;  ///< first: "" for its own
};
constexpr std::array kSemesters{Semester{"fa17", ""}, Semester{"sp18", ""}, Semester{"fa18", ""},
                                Semester{"sp19", ""}, Semester{"fa19", ""}, Semester{"sp25", "fa20"}};

/// Returns "sp25" as half-years since 2000; nullopt if it is not a semester.
std::optional<int> half_year(std::string_view text) {
  const bool is_fall = text.starts_with("fa");
  if (text.size() != 4 || (!is_fall && !text.starts_with("sp"))) return std::nullopt;
  if (std::isdigit(static_cast<unsigned char>(text[2])) == 0 || std::isdigit(static_cast<unsigned char>(text[3])) == 0)
    return std::nullopt;
  return 2 * (10 * (text[2] - '0') + (text[3] - '0')) + (is_fall ? 1 : 0);
}

/// Returns how many half-years lie between a semester and those of a network; 0 if it used this network.
int distance(int asked, const Semester& semester) {
  const int last = *half_year(semester.name), first = semester.first.empty() ? last : *half_year(semester.first);
  return std::max({first - asked, asked - last, 0});
}

}  // namespace

std::vector<std::string> semesters() {
  std::vector<std::string> names;
  for (const Semester& each : kSemesters) names.emplace_back(each.name);
  return names;
}

std::string semester_hint(const std::string& text, const std::vector<std::string>& names) {
  const std::optional<int> asked = half_year(text);
  if (!asked || std::ranges::find(names, text) != names.end()) return "";
  constexpr int kMostHalfYears = 10;  // what is further away is a typing error: "fa91"
  int least = kMostHalfYears;
  std::vector<std::string_view> nearest;
  for (const Semester& each : kSemesters) {
    if (std::ranges::find(names, each.name) == names.end()) continue;
    const int far = distance(*asked, each);
    if (far < least) nearest.clear();
    least = std::min(least, far);
    if (far == least) nearest.push_back(each.name);
  }
  if (nearest.empty()) return "";
  if (least == 0) return fmt::format("; {} used the network of {}", text, nearest.front());
  return fmt::format("; the nearest {} {}", nearest.size() == 1 ? "is" : "are", fmt::join(nearest, ", "));
}

}  // namespace convlab
