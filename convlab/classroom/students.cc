// Finds students by name.

#include "convlab/classroom/students.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/text.h"

namespace convlab::classroom {
namespace {

std::vector<std::string> names_of(const std::vector<Student>& students) {
  std::vector<std::string> names;
  for (const Student& each : students) names.push_back(printable(each.name));
  return names;
}

/// Returns "; the class has anna, bert and 3 more".
std::string known(std::vector<std::string> names) {
  constexpr size_t kShown = 5;
  if (names.empty()) return "; the class has no students yet";
  const size_t more = names.size() - std::min(names.size(), kShown);
  names.resize(names.size() - more);
  return fmt::format("; the class has {}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::string closest_student(Store& store, const std::string& name) {
  return closest(name, names_of(store.students()), 1);  // 2 edits make 'Mia' of 'Ada'
}

Student require_student(Store& store, const std::string& name) {
  const std::vector<Student> all = store.students();
  const auto found = std::ranges::find(all, name, &Student::name);
  if (found != all.end()) return *found;
  const std::string nearest = closest_student(store, name);
  throw bad_input("unknown student '{}'{}", printable(name),
                  nearest.empty() ? known(names_of(all)) : fmt::format("; did you mean '{}'?", nearest));
}

}  // namespace convlab::classroom
