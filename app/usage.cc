// Reports the time and memory that this process has used.

#include "app/usage.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <limits>

namespace convlab::app {
namespace {

using Clock = std::chrono::steady_clock;

Clock::time_point& process_begin() {
  static Clock::time_point begin = Clock::now();
  return begin;
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

void start_usage_clock() { process_begin() = Clock::now(); }

double began_s() { return std::chrono::duration<double>(process_begin().time_since_epoch()).count(); }

double monotonic_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

Usage usage_so_far() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return {.user_s = seconds(used.ru_utime),
          .system_s = seconds(used.ru_stime),
          .elapsed_s = std::chrono::duration<double>(Clock::now() - process_begin()).count(),
          .max_rss_kb = used.ru_maxrss};
}

ResidentMemory resident_memory() {
  ResidentMemory memory;
  std::ifstream status("/proc/self/status");
  for (std::string field; status >> field; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (field == "VmRSS:") status >> memory.now_kb;
    if (field == "VmHWM:") status >> memory.most_kb;
  }
  return memory;
}

std::string usage_text(const Usage& usage) {
  const auto hundredths = static_cast<int64_t>(usage.elapsed_s * 100);
  const int64_t whole = hundredths / 100;
  const std::string elapsed = whole < 3600 ? fmt::format("{}:{:02}.{:02}", whole / 60, whole % 60, hundredths % 100)
                                           : fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  const double busy = usage.user_s + usage.system_s;
  const std::string cpu =
      usage.elapsed_s > 0 ? fmt::format("{}", static_cast<int64_t>(100 * busy / usage.elapsed_s)) : "?";
  return fmt::format("{:.2f}user {:.2f}system {}elapsed {}%CPU (0avgtext+0avgdata {}maxresident)k", usage.user_s,
                     usage.system_s, elapsed, cpu, usage.max_rss_kb);
}

}  // namespace convlab::app
