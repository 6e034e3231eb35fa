#pragma once

#include <string>
#include <vector>

#include "convlab/classroom/ranking.h"

namespace convlab::classroom {

/// One field of a CSV file (RFC 4180). A text that a spreadsheet would take for a formula, because it begins with one
/// of = + - @, a tabulator or a line's end, gets an apostrophe before it (OWASP, "CSV Injection").
std::string csv_field(const std::string& text);

/// The registrar's table: a line a student and assignment, in the order of names, under a line of headings.
std::string grades_csv(const std::vector<Grade>& grades);

}  // namespace convlab::classroom
