#include "app/child.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "convlab/base/error.h"

namespace convlab::app {
namespace {

/// A file without a name, closed with the value: we read what a process wrote to it when the process has ended, and no
/// pipe can run full.
class Scratch {
 public:
  Scratch() : number_(::memfd_create("convlab", MFD_CLOEXEC)) {
    if (number_ < 0) throw unavailable("cannot make a scratch file: {}", std::strerror(errno));
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

}  // namespace

ChildRun run_child(std::vector<std::string> arguments) {
  const Scratch output, complaint;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output.number(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, complaint.number(), STDERR_FILENO);
  // If the program's starter ignores the end of children, this program inherits that, and would learn nothing of it.
  ::signal(SIGCHLD, SIG_DFL);
  pid_t child = 0;
  const double begin_s = monotonic_s();
  const int failure = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw unavailable("cannot start '{}': {}", fmt::join(arguments, " "), std::strerror(failure));
  }
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0) {
    if (errno == EINTR) continue;
    throw unavailable("cannot wait for '{}': {}", fmt::join(arguments, " "), std::strerror(errno));
  }
  constexpr int kSignalBase = 128;
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status),
          .output = output.content(),
          .complaint = complaint.content(),
          .begin_s = begin_s,
          .usage = {.user_s = seconds(used.ru_utime),
                    .system_s = seconds(used.ru_stime),
                    .elapsed_s = monotonic_s() - begin_s,
                    .max_rss_kb = used.ru_maxrss}};
}

}  // namespace convlab::app
