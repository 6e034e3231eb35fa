#pragma once

#include <chrono>

namespace convlab {

/// The clock for durations. It is monotonic.
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Returns the seconds since 1970, for time stamps. This clock may jump.
inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace convlab
