#pragma once

#include <string>

#include "convlab/device/activity.h"
#include "convlab/profile/totals.h"

namespace convlab {

// nvprof's formats, as NVIDIA's Profiler User's Guide shows them and as parsers expect them, down to its name in the
// first line. `process` is the profiling process, the ==278== that begins each line about the profile itself.

/// "==278== NVPROF is profiling process 278, command: COMMAND": before the program runs.
std::string nvprof_begin(int process, const std::string& command);

/// The summary, with the two lines before it.
std::string nvprof_summary(int process, const std::string& command, const ProfileTotals& summary);

/// As --csv gives it. Every column of times is in ms with six decimals, which is exact.
std::string nvprof_summary_csv(int process, const std::string& command, const ProfileTotals& summary);

/// As --print-gpu-trace gives it: one line per activity of the device, in order. Start 0 is the recording's begin.
std::string nvprof_gpu_trace(int process, const std::string& command, const Recording& recording);

/// As --print-gpu-trace --csv gives it: times in ms, sizes in bytes, throughput in GB/s of 2^30 bytes.
std::string nvprof_gpu_trace_csv(int process, const std::string& command, const Recording& recording);

/// "608ns", "1.1200us", "830.11us", "16.602ms", "3.03300s".
std::string nvprof_time(int64_t ns);

/// "0B", "256B", "6.7500KB", "73.500MB": units of 1024.
std::string nvprof_size(double bytes);

/// "39.80%".
std::string nvprof_percent(double share);

}  // namespace convlab
