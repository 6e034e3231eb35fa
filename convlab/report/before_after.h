#pragma once

#include <string>

#include "convlab/report/report.h"

namespace convlab {

/// Tables of a kernel beside its baseline: Op Times on each machine that timed it, and what simt counted. "" if there
/// is nothing to compare.
std::string before_and_after(const Contents& contents, const OwnKernel& kernel);

/// How many times the sectors of global memory a kernel's baseline moves, of all layers together; 0 if unknown.
double sectors_saved(const Contents& contents, const OwnKernel& kernel);

/// The sum of the layers' Op Times in ms, at so many images; 0 if one is missing, or tells nothing since the kernel is
/// a file that computes in its prolog.
double all_op_times(const Contents& contents, const MachineRecords& machine, const std::string& kernel, int64_t images);

}  // namespace convlab
