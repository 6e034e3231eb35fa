#pragma once

#include <optional>
#include <string>

namespace convlab {

/// Above this share, times taken meanwhile are worthless: on an idle machine it is below 0.01.
constexpr double kBusy = 0.1;

/// How long this process's threads had to wait for a CPU while others held it, from the construction on, as the
/// scheduler keeps its books (/proc/self/task/*/schedstat: nanoseconds on a CPU, and runnable without one).
class Contention {
 public:
  Contention();

  /// Of the time that the threads wanted to compute, the share that they waited: 0 if each always had a CPU. Absent
  /// where the system does not tell, or where next to nothing was computed.
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
