#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::app {

/// How a child process that runs a kernel file's code ended.
struct GuestEnd {
  enum class How {
    done,         ///< it reported that it was done
    exited,       ///< the file's code called exit()
    crashed,      ///< a signal ended it
    out_of_time,  ///< it reported nothing for too long and was killed
  };
  How how = How::done;
  int code = 0;               ///< exit status or signal
  std::string printed;        ///< the beginning of its output, on both standard streams
  int64_t printed_bytes = 0;  ///< size of the whole output
};

/// Returns "the file crashed: SIGSEGV, a memory address that is not there", "the file ended the program: exit(255)",
/// ...
std::string describe(const GuestEnd& end, double limit_s);

/// Runs this program with these arguments, the first being its name, in a child process with its own process group,
/// which may run untrusted code. Keeps its standard output and standard error up to a limit and discards what exceeds
/// it. Passes each line that it writes to kGuestResults to `on_line`; the line "done" reports that it is done. If no
/// line arrives for `limit_s` seconds, sends kLastWords and waits a little longer. Then, or when this process ends, the
/// child and all processes that it started are killed. Meanwhile SIGINT and SIGTERM are forwarded to the child.
///
/// The child works in `folder`, or in this process's working directory if `folder` is empty.
GuestEnd run_guest(std::vector<std::string> arguments, double limit_s,
                   const std::function<void(std::string_view line)>& on_line, const std::string& folder = "");

/// A new temporary folder for files that child processes leave behind; the destructor removes it. The constructor
/// throws Error(unavailable) if the folder cannot be created.
class GuestFolder {
 public:
  GuestFolder();
  ~GuestFolder();
  GuestFolder(const GuestFolder&) = delete;
  GuestFolder& operator=(const GuestFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The signal that makes a child process report where it hangs.
inline constexpr int kLastWords = SIGUSR1;

/// In a child process: the file descriptors of its results, and of the parent's standard output and standard error.
inline constexpr int kGuestResults = 3, kHostOutput = 4, kHostMessages = 5;

/// In a child process: call it first. The process is then killed when its parent ends.
void become_guest();

/// In a child process: writes a line to its results. Thread-safe.
void tell_host(std::string_view line);

}  // namespace convlab::app
