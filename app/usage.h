#pragma once

#include <cstdint>
#include <string>

namespace convlab::app {

/// What this process has used since it started.
struct Usage {
  double user_s = 0, system_s = 0, elapsed_s = 0;
  int64_t max_rss_kb = 0;  ///< peak resident memory, in KiB
};

/// Call it once at the start of main: elapsed time starts there.
void start_usage_clock();

/// Returns that time, in seconds of CLOCK_MONOTONIC, which all processes share.
double began_s();

/// Returns the current time of the same clock.
double monotonic_s();

Usage usage_so_far();

/// This process's resident memory, in KiB: now, and the peak so far. Usage::max_rss_kb may be that of the program that
/// started this one.
struct ResidentMemory {
  int64_t now_kb = 0, most_kb = 0;
};
ResidentMemory resident_memory();

/// Formats usage as /usr/bin/time does: "4.76user 3.76system 0:05.09elapsed 167%CPU (0avgtext+0avgdata
/// 2790040maxresident)k".
std::string usage_text(const Usage& usage);

}  // namespace convlab::app
