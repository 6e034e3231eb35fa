#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace convlab::judge {

/// An untrusted process and its permissions. Inside a jail it sees only its own processes, no network, no files except
/// `shown` and `writable` at their own paths, and an empty /tmp.
struct JailRequest {
  std::vector<std::string> command;             ///< argv; the first word is a path
  std::vector<std::filesystem::path> shown;     ///< files and folders, read-only
  std::vector<std::filesystem::path> writable;  ///< existing files that it may write
  std::vector<int> passed;                      ///< file descriptors that it inherits as 3, 4, ...
  bool compiles = false;  ///< a compiler: it may start processes, and sees the programs and headers of /usr
  double limit_s = 60;    ///< wall-clock time
  int64_t memory_bytes = int64_t{4} << 30;   ///< address space of each process
  int64_t file_bytes = int64_t{1} << 30;     ///< maximum size of a file that it writes
  int64_t output_bytes = int64_t{64} << 10;  ///< of its output that are kept; more is discarded
};

/// How a jailed process ended.
struct JailEnd {
  enum class How {
    exited,
    crashed,      ///< killed by a signal
    forbidden,    ///< it made a forbidden system call
    out_of_time,  ///< it was killed after `limit_s`
  };
  How how = How::exited;
  int code = 0;               ///< exit status or signal
  std::string printed;        ///< the beginning of its output, stdout and stderr together
  int64_t printed_bytes = 0;  ///< size of all its output
  double seconds = 0;
};

/// Returns a description: "the program crashed: SIGSEGV, ..."; "the program ran longer than 30 s"; for status 0, "the
/// program ended with exit(0)".
std::string describe(const JailEnd& end, double limit_s);

/// Returns the folder that contains a path and that every jailed compiler sees: "/usr/lib"; "" for other paths.
/// Symbolic links are not followed.
std::string shown_to_compilers(const std::filesystem::path& path);

/// Calls `seen` with each request before its process starts, from any thread; {} stops it. For tests of what jails can
/// see.
void watch_jails(std::function<void(const JailRequest&)> seen);

/// Returns why processes cannot be jailed on this machine, or "" if they can.
std::string why_no_jail();

/// A running jailed process.
class Jailed {
 public:
  /// Starts the process. With `in_jail` false it is an ordinary process with the same limits. Throws Error(unavailable)
  /// if it cannot start.
  Jailed(const JailRequest& request, bool in_jail);
  /// Kills the process and all its children.
  ~Jailed();
  Jailed(const Jailed&) = delete;
  Jailed& operator=(const Jailed&) = delete;

  /// Reads the process's output until file descriptor `number` (a pipe; -1 for none) is readable, and returns true.
  /// Returns false if the process ended or was killed at its time limit.
  bool wait_for(int number);

  /// Waits until the process ends.
  JailEnd end();

  /// Stops all of its threads until thaw(). The process must have started its program.
  void freeze();
  void thaw();

 private:
  void stop();
  void read_prints();
  pid_t innermost() const;

  const JailRequest request_;
  pid_t child_ = -1;
  int prints_ = -1, ended_ = -1;
  pid_t program_number_ = -1;
  int program_ = -1;  // pidfd of the requested command, where child_ may be bubblewrap
  double begin_s_;
  JailEnd end_;
};

/// Runs a process until it ends.
JailEnd run_in_jail(const JailRequest& request, bool in_jail);

}  // namespace convlab::judge
