// Reads from /proc how long this process's threads waited for a CPU.

#include "convlab/measure/contention.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace convlab {

Contention::Contention() : before_(read()) {}

std::optional<double> Contention::waited_share() const {
  constexpr double kLeastSeconds = 1e-3;
  const std::optional<Times> now = read();
  if (!before_ || !now) return std::nullopt;
  const double ran = now->ran - before_->ran, waited = now->waited - before_->waited;
  if (!(ran + waited >= kLeastSeconds && ran >= 0 && waited >= 0)) return std::nullopt;  // threads may have ended
  return waited / (ran + waited);
}

std::optional<Contention::Times> Contention::read() {
  constexpr double kNanoseconds = 1e-9;
  Times all;
  bool found = false;
  std::error_code error;
  for (std::filesystem::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    double ran = 0, waited = 0;
    if (std::ifstream file(task->path() / "schedstat"); file >> ran >> waited) {  // a thread may have ended
      all.ran += ran * kNanoseconds, all.waited += waited * kNanoseconds;
      found = true;
    }
  }
  if (!found) return std::nullopt;
  return all;
}

std::string busy_text(double waited_share) {
  return fmt::format("the machine was busy: convlab's threads waited for a CPU for {:.0f} % of their time",
                     100 * waited_share);
}

}  // namespace convlab
