#pragma once

#include <string>
#include <vector>

#include "convlab/report/report.h"

namespace convlab {

// Parts of a report about one of the user's kernels. Each returns "" if there is no evidence, unless stated otherwise.

/// Returns a table with one row per kernel of the report.
std::string own_overview(const Contents& contents);

/// Returns the scripts' runs: a table, and their exact output.
std::string output_table(const Contents& contents, const OwnKernel& kernel);

/// Returns what takes more than 90 % of the time: on a GPU or CPU, otherwise on simt.
std::string profile_tables(const Contents& contents, const OwnKernel& kernel);

/// Returns simt's counts, by function.
std::string count_table(const std::vector<const SavedCounts*>& counts);

/// Adds a chart of the kernel and its baseline under one machine's roofs.
std::string roofline_chart(Page& page, const Contents& contents, const OwnKernel& kernel,
                           const MachineRecords& machine);

std::string prediction_table(const Contents& contents, const OwnKernel& kernel);

/// Returns pictures of the access with most sectors (or wavefronts) of all layers, and of the one with most avoidable
/// ones if it is another access.
std::string pictures_of(const std::vector<const SavedCounts*>& counts, MemorySpace space);

}  // namespace convlab
