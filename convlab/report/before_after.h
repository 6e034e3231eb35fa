#pragma once

#include <string>

#include "convlab/report/report.h"

namespace convlab {

/// Returns tables that compare a kernel with its baseline: Op Times on each machine that timed it, and simt's counts.
/// "" if there is nothing to compare.
std::string before_and_after(const Contents& contents, const OwnKernel& kernel);

/// Returns the ratio of the kernel's global memory sectors to its baseline's, over all layers; 0 if unknown.
double sectors_of_baseline(const Contents& contents, const OwnKernel& kernel);

/// Returns the sum of the layers' Op Times in ms for `images` images; 0 if one is missing, or is meaningless because
/// the kernel is a file that computes in its prolog.
double all_op_times(const Contents& contents, const MachineRecords& machine, const std::string& kernel, int64_t images);

}  // namespace convlab
