#pragma once

#include <chrono>

namespace convlab {

/// The clock for durations: it never goes back.
using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

}  // namespace convlab
