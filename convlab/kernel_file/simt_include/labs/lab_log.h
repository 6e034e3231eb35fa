#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "convlab/simt/cuda/cuda_on_host.h"

/// Logs and timers of the course helpers wb.h and gputk.h. A log line is its text; compiled with -DJSON_OUTPUT, it is a
/// line of JSON, as in libwb. Times are those of this machine, so they say nothing about a GPU.
namespace convlab::labs {

enum LogLevel { kLevel_OFF, kLevel_FATAL, kLevel_ERROR, kLevel_WARN, kLevel_INFO, kLevel_DEBUG, kLevel_TRACE };
enum TimerKind {
  kTimer_Generic,
  kTimer_IO,
  kTimer_GPU,
  kTimer_Copy,
  kTimer_Driver,
  kTimer_CopyAsync,
  kTimer_Compute,
  kTimer_CPUGPUOverlap
};

#ifdef JSON_OUTPUT
inline constexpr bool kPrintsJson = true;
#else
inline constexpr bool kPrintsJson = false;
#endif

/// Ends the program: `what` is about its arguments or its files, not about CUDA.
[[noreturn]] inline void give_up(const std::string& what) {
  std::fflush(stdout);
  std::fprintf(stderr, "lab: %s\n", what.c_str());
  std::exit(1);
}

inline void append(std::ostream& out, bool value) { out << (value ? "True" : "False"); }
template <class T>
void append(std::ostream& out, const T& value) {
  out << value;
}

/// Returns the values as one text, a bool as True or False.
template <class... T>
std::string text(const T&... values) {
  std::ostringstream out;
  (append(out, values), ...);
  return out.str();
}

inline std::string quoted(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

inline const char* name_of(LogLevel level) {
  constexpr const char* kNames[] = {"Off", "Fatal", "Error", "Warn", "Info", "Debug", "Trace"};
  return kNames[level];
}

inline const char* name_of(TimerKind kind) {
  constexpr const char* kNames[] = {"Generic", "IO", "GPU", "Copy", "Driver", "CopyAsync", "Compute", "CPUGPUOverlap"};
  return kNames[kind];
}

inline void log(LogLevel level, const char* file, const char* function, int line, const std::string& message) {
  if (!kPrintsJson) {
    std::printf("%s\n", message.c_str());
    return;
  }
  std::printf(
      "{\"data\": {\"file\": %s, \"function\": %s, \"level\": %s, \"line\": %d, \"message\": %s}, \"type\": "
      "\"logger\"}\n",
      quoted(file).c_str(), quoted(function).c_str(), quoted(name_of(level)).c_str(), line, quoted(message).c_str());
}

struct Timer {
  TimerKind kind;
  std::string message;
  int line;
  std::chrono::steady_clock::time_point start;
};

/// The timers that run, the latest last.
inline std::vector<Timer>& running_timers() {
  static std::vector<Timer> timers;
  return timers;
}

/// Starts a timer once the device is idle, as libwb does when it is built for CUDA.
inline void start_timer(TimerKind kind, int line, const std::string& message = {}) {
  cudaDeviceSynchronize();
  running_timers().push_back({kind, message, line, std::chrono::steady_clock::now()});
}

/// Stops the latest timer of this kind and message; without a message, of this kind. Does nothing if there is none.
/// `says_time`: log the time, as libgputk does.
inline void stop_timer(TimerKind kind, const char* file, const char* function, int line, bool says_time,
                       const std::string& message = {}) {
  cudaDeviceSynchronize();
  std::vector<Timer>& timers = running_timers();
  size_t at = timers.size();
  while (at > 0 && !(timers[at - 1].kind == kind && (message.empty() || timers[at - 1].message == message))) --at;
  if (at == 0) return;
  const Timer timer = timers[at - 1];
  timers.erase(timers.begin() + static_cast<std::ptrdiff_t>(at - 1));
  const auto elapsed = std::chrono::steady_clock::now() - timer.start;
  const double ms = std::chrono::duration<double, std::milli>(elapsed).count();
  if (kPrintsJson) {
    std::printf(
        "{\"data\": {\"elapsed_time\": %.0f, \"end_line\": %d, \"file\": %s, \"kind\": %s, \"message\": %s, "
        "\"start_line\": %d}, \"type\": \"timer\"}\n",
        ms * 1e6, line, quoted(file).c_str(), quoted(name_of(kind)).c_str(), quoted(timer.message).c_str(), timer.line);
  } else if (says_time) {
    log(kLevel_INFO, file, function, line,
        text("[TIME][", name_of(kind), "][", timer.message, "][", file, ": ", timer.line, "-", line,
             "] Elapsed time: ", ms, " ms"));
  }
}

}  // namespace convlab::labs
