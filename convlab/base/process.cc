// Runs child processes with a time limit and collects their output.

#include "convlab/base/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"

namespace convlab {
namespace {

/// An anonymous file in memory for a child's output. It is read after the child has ended and, unlike a pipe, never
/// fills up.
class Scratch {
 public:
  Scratch() : number_(::memfd_create("convlab", MFD_CLOEXEC)) {
    if (number_ < 0) throw unavailable("cannot create a temporary file: {}", std::strerror(errno));
  }
  ~Scratch() { ::close(number_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  int number() const { return number_; }

  std::string content() const {
    std::string text;
    std::array<char, 4096> piece;
    for (off_t at = 0;;) {
      const ssize_t count = ::pread(number_, piece.data(), piece.size(), at);
      if (count <= 0) return text;
      text.append(piece.data(), static_cast<size_t>(count));
      at += count;
    }
  }

 private:
  int number_;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// Returns false if the process is still running after `limit_s` seconds.
bool ends_within(pid_t process, double limit_s) {
  const ProcessEnd end(process);
  if (end.number() < 0) return true;  // no pidfd: wait without a limit
  pollfd ended{end.number(), POLLIN, 0};
  const Clock::time_point begin = Clock::now();
  int count = 0;
  do {
    const double left = std::max(limit_s - seconds_since(begin), 0.0);
    count = ::poll(&ended, 1, static_cast<int>(std::ceil(left * 1e3)));
  } while (count < 0 && errno == EINTR);
  return count != 0;
}

}  // namespace

ProcessEnd::ProcessEnd(pid_t process) : number_(static_cast<int>(::syscall(SYS_pidfd_open, process, 0))) {}

ProcessEnd::~ProcessEnd() {
  if (number_ >= 0) ::close(number_);
}

ProcessRun run_process(const std::string& program, std::vector<std::string> arguments, double limit_s) {
  const Scratch output, complaint;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output.number(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, complaint.number(), STDERR_FILENO);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  if (limit_s > 0) ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  // If our parent ignores SIGCHLD, we inherit that, and wait4() would not return the child's status.
  ::signal(SIGCHLD, SIG_DFL);
  pid_t child = 0;
  const Clock::time_point begin = Clock::now();
  const int failure = ::posix_spawnp(&child, program.c_str(), &actions, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failure != 0) {
    throw unavailable("cannot start '{}': {}", fmt::join(arguments, " "), std::strerror(failure));
  }
  const bool out_of_time = limit_s > 0 && !ends_within(child, limit_s);
  if (out_of_time) ::kill(-child, SIGKILL);
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0) {
    if (errno == EINTR) continue;
    throw unavailable("cannot wait for '{}': {}", fmt::join(arguments, " "), std::strerror(errno));
  }
  constexpr int kSignalBase = 128;
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status),
          .out_of_time = out_of_time,
          .output = output.content(),
          .complaint = complaint.content(),
          .user_s = seconds(used.ru_utime),
          .system_s = seconds(used.ru_stime),
          .elapsed_s = seconds_since(begin),
          .max_rss_kb = used.ru_maxrss};
}

}  // namespace convlab
