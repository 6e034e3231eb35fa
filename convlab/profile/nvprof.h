#pragma once

#include <string>

#include "convlab/device/activity.h"
#include "convlab/profile/totals.h"

namespace convlab {

// nvprof's formats, as in NVIDIA's Profiler User's Guide and as parsers expect them, including its name in the first
// line. `process` is the ID of the profiling process, as in the ==278== that starts each line about the profile itself.

/// Returns "==278== NVPROF is profiling process 278, command: COMMAND", printed before the program runs.
std::string nvprof_begin(int process, const std::string& command);

/// Returns the summary, with the two lines before it.
std::string nvprof_summary(int process, const std::string& command, const ProfileTotals& summary);

/// Returns the format of --csv. All time columns are in ms with six decimals, which is exact.
std::string nvprof_summary_csv(int process, const std::string& command, const ProfileTotals& summary);

/// Returns the format of --print-gpu-trace: one line per device activity, in order. Start 0 is the start of the
/// recording.
std::string nvprof_gpu_trace(int process, const std::string& command, const Recording& recording);

/// Returns the format of --print-gpu-trace --csv: times in ms, sizes in bytes, throughput in GB/s of 2^30 bytes.
std::string nvprof_gpu_trace_csv(int process, const std::string& command, const Recording& recording);

/// Returns "608ns", "1.1200us", "830.11us", "16.602ms", "3.03300s".
std::string nvprof_time(int64_t ns);

/// Returns "0B", "256B", "6.7500KB", "73.500MB": units of 1024.
std::string nvprof_size(double bytes);

/// Returns "39.80%".
std::string nvprof_percent(double share);

}  // namespace convlab
