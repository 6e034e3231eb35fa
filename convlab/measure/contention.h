#pragma once

#include <optional>
#include <string>

namespace convlab {

/// Times measured with a waited_share() above this are worthless; an idle machine stays below 0.01.
constexpr double kBusy = 0.1;

/// Measures how long this process's threads waited for a CPU since construction, as the scheduler counts it
/// (/proc/self/task/*/schedstat: nanoseconds on a CPU, and nanoseconds runnable without one).
class Contention {
 public:
  Contention();

  /// Returns waiting time / (waiting + running time) of the threads: 0 if each always had a CPU. Absent if the system
  /// does not report it, or if the threads wanted a CPU for less than 1 ms.
  std::optional<double> waited_share() const;

 private:
  struct Times {
    double ran = 0, waited = 0;  // seconds, summed over all threads
  };
  static std::optional<Times> read();

  std::optional<Times> before_;
};

/// Returns "the machine was busy: convlab's threads waited for a CPU for 43 % of their time".
std::string busy_text(double waited_share);

}  // namespace convlab
