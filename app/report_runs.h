#pragma once

#include <string>
#include <vector>

#include "convlab/report/report.h"

namespace convlab::app {

/// Runs a script of the course, unless the evidence has its output: another process of this program, whose result
/// becomes evidence. If it fails `input.failed` says why. `data`: as for 'convlab run'.
void add_run_of(const std::string& script, int64_t images, const std::string& data, ReportInput& input);

/// The report's own kernel, on the device that suits it. Without `baseline` it is compared with the ladder's first
/// rung, or on CPUs with cpu.direct. Error(bad_input) where one of the files is no kernel.
OwnKernel own_kernel(const std::string& file, const std::string& baseline);

/// Measures what the report wants of its own kernels, the evidence lacks and this machine can make, as add_run_of()
/// does.
void run_what_is_wanted(const std::string& data, ReportInput& input);

}  // namespace convlab::app
