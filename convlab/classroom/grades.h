#pragma once

#include <string>
#include <vector>

#include "convlab/classroom/ranking.h"

namespace convlab::classroom {

/// Returns one field of a CSV file (RFC 4180). Prefixes an apostrophe to text that a spreadsheet would read as a
/// formula, because it begins with = + - @, a tab or a line break (OWASP, "CSV Injection").
std::string csv_field(const std::string& text);

/// Returns the registrar's table: a header line, then one line per student and assignment, sorted by name.
std::string grades_csv(const std::vector<Grade>& grades);

}  // namespace convlab::classroom
