// The option --semester.

#include "app/semester_option.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/semester.h"
#include "convlab/base/text.h"

namespace convlab::app {

CLI::Option* add_semester(CLI::App& options, std::string& value, const std::string& help) {
  const std::vector<std::string> names = semesters();
  return add_parsed(options, "--semester", fmt::format("{}", fmt::join(names, "|")), help,
                    [&value, names](const std::string& text, const std::string& name) {
                      if (std::ranges::find(names, text) == names.end()) {
                        throw bad_input("{} must be one of {}, got '{}'{}", name, fmt::join(names, ", "),
                                        printable(text), semester_hint(text, names));
                      }
                      value = text;
                    });
}

}  // namespace convlab::app
