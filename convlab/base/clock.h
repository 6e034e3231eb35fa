#pragma once

#include <time.h>

#include <chrono>

namespace convlab {

/// The clock for durations. It is monotonic.
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns the seconds that the process (CLOCK_PROCESS_CPUTIME_ID) or the calling thread (CLOCK_THREAD_CPUTIME_ID) has
/// run on processors.
inline double processor_seconds(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Returns the seconds since 1970, for time stamps. This clock may jump.
inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace convlab
