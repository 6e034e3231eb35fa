#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace convlab::judge {

/// A process of somebody else's, and what it may do. Inside of a jail it sees its own processes alone, no network, no
/// file but `shown` and `writable`, each in its own place, and an empty /tmp.
struct JailRequest {
  std::vector<std::string> command;             ///< the first is a path
  std::vector<std::filesystem::path> shown;     ///< files and folders to read
  std::vector<std::filesystem::path> writable;  ///< files that are there, to be written
  std::vector<int> passed;                      ///< numbers that the process has, too, as 3, 4, ...
  bool compiles = false;                     ///< a compiler: it starts processes, and sees programs and headers of /usr
  double limit_s = 60;                       ///< on the clock
  int64_t memory_bytes = int64_t{4} << 30;   ///< addresses of each process
  int64_t file_bytes = int64_t{1} << 30;     ///< the most that it may write to one file
  int64_t output_bytes = int64_t{64} << 10;  ///< kept of what it prints; the rest is lost
};

/// How a jailed process ended.
struct JailEnd {
  enum class How {
    exited,
    crashed,      ///< a signal ended it
    forbidden,    ///< it made a system call that it may not make
    out_of_time,  ///< it was ended
  };
  How how = How::exited;
  int code = 0;               ///< exit status or signal
  std::string printed;        ///< the beginning of what it printed, on both standard streams
  int64_t printed_bytes = 0;  ///< all of it
  double seconds = 0;
};

/// "the program crashed: SIGSEGV, ..."; "the program ran longer than 30 s"; for status 0, "the program ended with
/// exit(0)".
std::string describe(const JailEnd& end, double limit_s);

/// The folder that every compiler sees in its jail, and in which a path lies: "/usr/lib"; "" for other paths. Links are
/// not followed.
std::string shown_to_compilers(const std::filesystem::path& path);

/// Calls `seen` with each request before its process starts, from any thread; {}: no more. For tests of what enters
/// jails.
void watch_jails(std::function<void(const JailRequest&)> seen);

/// Why no process can be jailed here, in words; "" if one can.
std::string why_no_jail();

/// A jailed process that runs.
class Jailed {
 public:
  /// Starts it; with `in_jail` false as an ordinary process under the same limits. Error(unavailable) if it cannot
  /// start.
  Jailed(const JailRequest& request, bool in_jail);
  /// Ends it, and all that it started.
  ~Jailed();
  Jailed(const Jailed&) = delete;
  Jailed& operator=(const Jailed&) = delete;

  /// Reads what it prints until it ends or `number` (a pipe's end; -1 for none) can be read; false if it ended, or had
  /// to be.
  bool wait_for(int number);

  /// Waits until it ends.
  JailEnd end();

  /// Stops all of its threads, so that none computes until thaw(). The process must have started its program.
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
  int program_ = -1;  // of the request, where child_ may be bubblewrap
  double begin_s_;
  JailEnd end_;
};

/// Runs one to its end.
JailEnd run_in_jail(const JailRequest& request, bool in_jail);

}  // namespace convlab::judge
