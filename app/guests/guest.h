#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace convlab::app {

/// How a process that runs somebody else's code ended.
struct GuestEnd {
  enum class How {
    done,         ///< it said that it was done
    exited,       ///< somebody's code ended it with exit()
    crashed,      ///< a signal ended it
    out_of_time,  ///< it said nothing for too long, and we ended it
  };
  How how = How::done;
  int code = 0;               ///< exit status or signal
  std::string printed;        ///< the beginning of what it printed, on both standard streams
  int64_t printed_bytes = 0;  ///< all of it
};

/// "crashed: SIGSEGV, a memory address that is not there"; "ended the program: exit(255)"; ...
std::string describe(const GuestEnd& end, double limit_s);

/// Runs this program as a guest, a process of its own group that may do what it likes: with these arguments, the first
/// being its name. Its standard streams are kept up to a limit and otherwise lost. What it writes to its end of
/// kGuestResults goes to `on_line`, line by line; the line "done" says that all is done. If no line comes for `limit_s`
/// seconds, the guest gets kLastWords and a little more time. Then, or when this process ends, it and all that it has
/// started are killed; meanwhile SIGINT and SIGTERM go to the guest.
///
/// It works in `folder`, or where this process does if that is empty.
GuestEnd run_guest(std::vector<std::string> arguments, double limit_s,
                   const std::function<void(std::string_view line)>& on_line, const std::string& folder = "");

/// A new folder for what guests leave behind; it ends with the value. Error(unavailable) if none can be made.
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

/// The signal after which a guest says where it hangs.
inline constexpr int kLastWords = SIGUSR1;

/// In a guest: the file descriptors of its results, and of its host's standard output and standard error.
inline constexpr int kGuestResults = 3, kHostOutput = 4, kHostMessages = 5;

/// In a guest: what it does when it begins. It ends with its host.
void become_guest();

/// In a guest: writes a line to its results. Several threads may call it.
void tell_host(std::string_view line);

}  // namespace convlab::app
