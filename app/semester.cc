// The option --semester.

#include "app/semester.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/model/formats/semesters.h"

namespace convlab::app {

CLI::Option* add_semester(CLI::App& options, std::string& value, const std::string& help) {
  const std::vector<std::string_view> names = semesters_with_networks();
  return add_parsed(options, "--semester", fmt::format("{}", fmt::join(names, "|")), help,
                    [&value, names](const std::string& text, const std::string& name) {
                      if (std::ranges::find(names, text) == names.end()) {
                        const std::string nearest = nearest_semesters(text);
                        throw bad_input("{} must be one of {}, got '{}'{}", name, fmt::join(names, ", "),
                                        printable(text), nearest.empty() ? "" : "; " + nearest);
                      }
                      value = text;
                    });
}

}  // namespace convlab::app
