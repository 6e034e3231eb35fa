#pragma once

#include <string>

#include "convlab/report/report.h"

namespace convlab {

/// Returns whether GPU counters of the kernel in the semester's network are available.
bool has_counters(const Contents& contents, const std::string& kernel);

/// Returns, per GPU, a chart and a table of a kernel's counters, or why the driver did not permit them. Launches of one
/// function in one layer are averaged, weighted by time.
std::string utilisation(Page& page, const Contents& contents, const std::string& kernel);

}  // namespace convlab
