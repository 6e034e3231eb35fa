#pragma once

#include <string>
#include <vector>

#include "convlab/report/report.h"

namespace convlab::app {

/// Runs a script of the course in another process of this program and adds its output to the evidence, unless the
/// evidence has it already. If it fails, adds the reason to `input.failed`. `data`: as for 'convlab run'.
void add_run_of(const std::string& script, int64_t images, const std::string& data, ReportInput& input);

/// Returns the user's kernel for the report, with the device that suits it. Without `baseline` it is compared with the
/// ladder's first rung, or on CPUs with cpu.direct. Throws Error(bad_input) if one of the files is not a kernel file.
OwnKernel own_kernel(const std::string& file, const std::string& baseline);

/// Runs the measurements of the user's kernels that the report needs, the evidence lacks and this machine supports;
/// failures are handled as in add_run_of().
void run_what_is_wanted(const std::string& data, ReportInput& input);

}  // namespace convlab::app
