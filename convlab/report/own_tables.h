#pragma once

#include <string>
#include <vector>

#include "convlab/report/report.h"

namespace convlab {

// What a report about somebody's own kernels shows of one of them. "" where there is no evidence, unless it says
// otherwise.

/// One row for each of the report's kernels.
std::string own_overview(const Contents& contents);

/// The scripts' runs: a table, and their exact lines.
std::string output_table(const Contents& contents, const OwnKernel& kernel);

/// What takes more than 90 % of the time, on a GPU or CPU, otherwise on simt.
std::string profile_tables(const Contents& contents, const OwnKernel& kernel);

/// Function by function, what simt counted.
std::string count_table(const std::vector<const SavedCounts*>& counts);

/// The kernel and its baseline under one machine's roofs.
std::string roofline_chart(Page& page, const Contents& contents, const OwnKernel& kernel,
                           const MachineRecords& machine);

std::string prediction_table(const Contents& contents, const OwnKernel& kernel);

/// Pictures of the access that takes most sectors, or wavefronts, of all layers, and of the one with most that could be
/// spared, if that is another.
std::string pictures_of(const std::vector<const SavedCounts*>& counts, MemorySpace space);

}  // namespace convlab
