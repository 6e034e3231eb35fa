// Runs child processes that execute the code of kernel files.

#include "app/guests/guest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/process.h"
#include "convlab/base/signal_text.h"

namespace convlab::app {
namespace {

constexpr size_t kMostPrinted = 16 << 10;
constexpr size_t kMostLine = 1 << 20;
constexpr double kSecondsForLastWords = 2;
constexpr double kMostSecondsToEnd = 10;  // for a process that has closed its results

/// The two ends of a pipe, which the destructor closes.
struct Pipe {
  int read = -1, write = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw unavailable("cannot create a pipe: {}", std::strerror(errno));
    // Use numbers that the child does not get, because dup2 to such a number would close it.
    read = ::fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    write = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    ::close(ends[0]);
    ::close(ends[1]);
  }
  ~Pipe() {
    close_write();
    ::close(read);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_write() {
    if (write >= 0) ::close(std::exchange(write, -1));
  }
};

/// A duplicate of one of our streams, with a number that the child does not use.
class Copy {
 public:
  explicit Copy(int of) : number_(::fcntl(of, F_DUPFD_CLOEXEC, 10)) {}
  ~Copy() { ::close(number_); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

/// While it exists, forwards SIGINT and SIGTERM to the child, which may have results to save.
class Forwarding {
 public:
  explicit Forwarding(pid_t guest) {
    target = guest;
    struct sigaction action {};
    action.sa_handler = [](int signal) { ::kill(-target, signal); };
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before_[i]);
  }
  ~Forwarding() {
    for (size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before_[i], nullptr);
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

 private:
  static constexpr std::array kSignals{SIGINT, SIGTERM};
  static inline volatile pid_t target = 0;
  std::array<struct sigaction, kSignals.size()> before_{};
};

pid_t start(std::vector<std::string>& arguments, const Pipe& results, const Pipe& prints, const std::string& folder) {
  const Copy output(STDOUT_FILENO), messages(STDERR_FILENO);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (!folder.empty()) ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, prints.write, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, prints.write, STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, results.write, kGuestResults);
  ::posix_spawn_file_actions_adddup2(&actions, output.number(), kHostOutput);
  ::posix_spawn_file_actions_adddup2(&actions, messages.number(), kHostMessages);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  ::signal(SIGCHLD, SIG_DFL);
  pid_t child = 0;
  const int failure = ::posix_spawn(&child, "/proc/self/exe", &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw unavailable("cannot start a process for a kernel file: {}", std::strerror(failure));
  return child;
}

/// Splits the data from a pipe into lines.
class Lines {
 public:
  explicit Lines(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}

  void add(std::string_view text) {
    partial_ += text;
    size_t end = 0;
    while ((end = partial_.find('\n')) != std::string::npos) {
      const std::string line = partial_.substr(0, end);
      partial_.erase(0, end + 1);
      if (line == "done") {
        done_ = true;
      } else {
        on_line_(line);
      }
    }
    if (partial_.size() > kMostLine) partial_.clear();  // not our line: the file wrote to our file descriptor
  }
  bool done() const { return done_; }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string partial_;
  bool done_ = false;
};

void keep_prints(GuestEnd& end, std::string_view text) {
  end.printed += text.substr(0, kMostPrinted - std::min(kMostPrinted, end.printed.size()));
  end.printed_bytes += std::ssize(text);
}

/// Waits for the process, which has nothing left to report, for at most `limit_s` seconds and then kills it. Returns
/// its status; sets `late` if it was killed.
int reap(pid_t child, double limit_s, bool& late) {
  const Clock::time_point begin = Clock::now();
  for (int status = 0;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    if (!late && seconds_since(begin) > limit_s) {
      late = true;
      ::kill(-child, SIGKILL);
    }
    ::usleep(1000);
  }
}

/// While it exists, this process is the parent (subreaper) of all processes that a child leaves behind, in whatever
/// group or session; the destructor kills them.
class Orphans {
 public:
  Orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Orphans() {
    constexpr double kMostSeconds = 10;
    const Clock::time_point begin = Clock::now();
    while (seconds_since(begin) < kMostSeconds) {
      const pid_t ended = ::waitpid(-1, nullptr, WNOHANG);
      if (ended < 0 && errno == ECHILD) break;
      if (ended == 0) {
        kill_children();
        ::usleep(1000);
      }
    }
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }
  Orphans(const Orphans&) = delete;
  Orphans& operator=(const Orphans&) = delete;

 private:
  static void kill_children() {
    std::ifstream children(fmt::format("/proc/self/task/{}/children", ::getpid()));
    for (pid_t child = 0; children >> child;) ::kill(child, SIGKILL);
  }
};

}  // namespace

std::string describe(const GuestEnd& end, double limit_s) {
  switch (end.how) {
    case GuestEnd::How::done:
      return "";
    case GuestEnd::How::exited:
      return fmt::format("the file ended the program: exit({})", end.code);
    case GuestEnd::How::crashed:
      return fmt::format("the file crashed: {}", signal_text(end.code));
    case GuestEnd::How::out_of_time:
      return fmt::format("the file made no progress for {:g} s", limit_s);
  }
  return "?";
}

GuestEnd run_guest(std::vector<std::string> arguments, double limit_s,
                   const std::function<void(std::string_view line)>& on_line, const std::string& folder) {
  const Orphans orphans;
  Pipe results, prints;
  const pid_t child = start(arguments, results, prints, folder);
  const Forwarding forwarding(child);
  results.close_write();
  prints.close_write();

  GuestEnd end;
  Lines lines(on_line);
  Clock::time_point last_read = Clock::now();
  std::optional<Clock::time_point> asked;  // when kLastWords was sent
  const ProcessEnd ended(child);
  std::array watched{pollfd{results.read, POLLIN, 0}, pollfd{prints.read, POLLIN, 0},
                     pollfd{ended.number(), POLLIN, 0}};
  std::array<char, 65536> buffer;
  // Do not wait until the pipes are closed: processes that the child started may keep them open.
  while (watched[0].fd >= 0 && watched[2].revents == 0 && !lines.done()) {
    const double left = asked ? kSecondsForLastWords - seconds_since(*asked) : limit_s - seconds_since(last_read);
    if (left <= 0 && asked) break;
    if (left <= 0) {
      asked = Clock::now();
      ::kill(child, kLastWords);
      continue;
    }
    if (::poll(watched.data(), watched.size(), static_cast<int>(std::min(left, 1e6) * 1e3) + 1) < 0) continue;
    for (pollfd& each : std::span(watched).first(2)) {
      if (each.fd < 0 || each.revents == 0) continue;
      const ssize_t count = ::read(each.fd, buffer.data(), buffer.size());
      if (count <= 0) {
        each.fd = -1;
      } else if (each.fd == results.read) {
        last_read = Clock::now();
        lines.add({buffer.data(), static_cast<size_t>(count)});
      } else {
        keep_prints(end, {buffer.data(), static_cast<size_t>(count)});
      }
    }
  }
  if (asked && !lines.done()) end.how = GuestEnd::How::out_of_time;
  // A child that is done has nothing left to report, but may hang while it exits.
  if (end.how == GuestEnd::How::out_of_time || lines.done()) ::kill(-child, SIGKILL);
  bool late = false;
  const int status = reap(child, std::min(limit_s, kMostSecondsToEnd), late);
  ::kill(-child, SIGKILL);  // processes that it started
  const auto drain = [&buffer](int pipe, const auto& keep) {
    ::fcntl(pipe, F_SETFL, O_NONBLOCK);
    for (ssize_t count = 0; (count = ::read(pipe, buffer.data(), buffer.size())) > 0;) {
      keep({buffer.data(), static_cast<size_t>(count)});
    }
  };
  if (!lines.done()) drain(results.read, [&](std::string_view text) { lines.add(text); });
  drain(prints.read, [&](std::string_view text) { keep_prints(end, text); });
  if (late) end.how = GuestEnd::How::out_of_time;
  if (lines.done() || end.how == GuestEnd::How::out_of_time) return end;
  end.how = WIFSIGNALED(status) ? GuestEnd::How::crashed : GuestEnd::How::exited;
  end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
  return end;
}

GuestFolder::GuestFolder() {
  std::error_code error;
  path_ = (std::filesystem::temp_directory_path(error) / "convlab-guest-XXXXXX").string();
  if (error || ::mkdtemp(path_.data()) == nullptr) throw unavailable("cannot create a temporary folder {}", path_);
}

GuestFolder::~GuestFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

void become_guest() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::fcntl(kGuestResults, F_SETFD, FD_CLOEXEC);
}

void tell_host(std::string_view line) {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  const std::string text = fmt::format("{}\n", line);
  for (size_t at = 0; at < text.size();) {
    const ssize_t count = ::write(kGuestResults, text.data() + at, text.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {  // the parent is gone, or the file closed our file descriptor
      if (errno == EBADF)
        ::dprintf(STDERR_FILENO, "the kernel file closed file descriptor %d, which convlab uses\n", kGuestResults);
      ::_exit(1);
    }
    at += static_cast<size_t>(count);
  }
}

}  // namespace convlab::app
