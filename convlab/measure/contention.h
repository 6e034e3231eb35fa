#pragma once

#include <optional>
#include <string>

namespace convlab {

/// Above this share, times taken meanwhile are worthless: an idle machine stays below 0.01.
constexpr double kBusy = 0.1;

/// How long this process's threads have waited for a CPU while others held it, since the construction, as the scheduler
/// counts it (/proc/self/task/*/schedstat: nanoseconds on a CPU, and runnable without one).
class Contention {
 public:
  Contention();

  /// The share of the time that the threads wanted to compute in which they waited: 0 if each always had a CPU. Absent
  /// where the system does not tell, or the threads computed next to nothing.
  std::optional<double> waited_share() const;

 private:
  struct Times {
    double ran = 0, waited = 0;  // seconds, of all threads
  };
  static std::optional<Times> read();

  std::optional<Times> before_;
};

/// "the machine was busy: convlab's threads waited for a CPU for 43 % of their time".
std::string busy_text(double waited_share);

}  // namespace convlab
