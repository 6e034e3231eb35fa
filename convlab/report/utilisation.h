#pragma once

#include <string>

#include "convlab/report/report.h"

namespace convlab {

/// Whether there is evidence of a GPU's counters for a kernel in the semester's network.
bool has_counters(const Contents& contents, const std::string& kernel);

/// A chart and a table per GPU of what its counters say about a kernel, or why the driver gave none. All launches of
/// one function in one layer are taken together: a mean over their time.
std::string utilisation(Page& page, const Contents& contents, const std::string& kernel);

}  // namespace convlab
