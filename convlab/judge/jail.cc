// Runs untrusted processes in bubblewrap jails under resource limits.

#include "convlab/judge/jail.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

#include "convlab/base/error.h"
#include "convlab/base/limits.h"
#include "convlab/base/process.h"
#include "convlab/base/signal_text.h"
#include "convlab/judge/system_calls.h"

namespace convlab::judge {
namespace fs = std::filesystem;
namespace {

constexpr const char* kBubblewrap = "/usr/bin/bwrap";
constexpr int kFirstPassed = 3;
constexpr int64_t kTmpBytesOfCompiler = int64_t{512} << 20, kTmpBytes = int64_t{96} << 20;
constexpr int kSignalBase = 128;

/// The folders that compilers read. Not all of /usr, because a class folder may be below it.
constexpr std::array kFoldersOfCompilers{"/usr/bin",   "/usr/include", "/usr/lib",    "/usr/lib32",
                                         "/usr/lib64", "/usr/libx32",  "/usr/libexec"};

double now_s() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Older versions cannot limit the size of a tmpfs; then only the machine's memory limits it.
bool knows_size() {
  static const bool knows = [] {
    const ProcessRun help = run_process(kBubblewrap, {kBubblewrap, "--help"});
    return (help.output + help.complaint).find("--size") != std::string::npos;
  }();
  return knows;
}

/// Returns bubblewrap's command line. `filter` is the file descriptor of the system call filter.
std::vector<std::string> jail_words(const JailRequest& request, int filter) {
  std::vector<std::string> words{kBubblewrap,  "--unshare-all", "--die-with-parent", "--new-session",
                                 "--hostname", "jail",          "--cap-drop",        "ALL"};
  const auto add = [&](std::initializer_list<std::string> more) { words.insert(words.end(), more); };
  if (request.compiles) {
    for (const char* folder : kFoldersOfCompilers) add({"--ro-bind-try", folder, folder});
    for (const std::string folder : {"bin", "lib", "lib32", "lib64"}) {
      std::error_code error;
      const fs::path path = "/" + folder;
      if (fs::is_symlink(path, error)) {
        add({"--symlink", fs::read_symlink(path, error).string(), path.string()});
      } else if (fs::is_directory(path, error)) {
        add({"--ro-bind", path.string(), path.string()});
      }
    }
    add({"--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind-try", "/etc/ld.so.cache",
         "/etc/ld.so.cache"});
  }
  // No /proc: bubblewrap's own process in the jail is not filtered, and could be taken over through it.
  add({"--dev-bind", "/dev/null", "/dev/null"});
  if (knows_size()) add({"--size", std::to_string(request.compiles ? kTmpBytesOfCompiler : kTmpBytes)});
  add({"--tmpfs", "/tmp"});
  for (const fs::path& each : request.shown) add({"--ro-bind", each.string(), each.string()});
  for (const fs::path& each : request.writable) add({"--bind", each.string(), each.string()});
  add({"--remount-ro", "/", "--chdir", "/tmp", "--seccomp", std::to_string(filter), "--"});
  words.insert(words.end(), request.command.begin(), request.command.end());
  return words;
}

/// Returns whether all threads of a process are stopped or have ended.
bool has_stopped(pid_t process) {
  std::error_code error;
  for (const fs::directory_entry& thread : fs::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
    std::string text;
    std::getline(std::ifstream(thread.path() / "stat"), text);
    const size_t state = text.rfind(')') + 2;  // after the program's name
    if (state < text.size() && std::string_view("TtZX").find(text[state]) == std::string_view::npos) return false;
  }
  return true;
}

std::function<void(const JailRequest&)> watcher;

void limit(int resource, int64_t most) {
  const rlimit both{static_cast<rlim_t>(most), static_cast<rlim_t>(most)};
  ::setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

}  // namespace

std::string describe(const JailEnd& end, double limit_s) {
  switch (end.how) {
    case JailEnd::How::exited:
      return fmt::format("the program ended with exit({})", end.code);
    case JailEnd::How::crashed:
      return fmt::format("the program crashed: {}", signal_text(end.code));
    case JailEnd::How::forbidden:
      return "the program made a forbidden system call (for example fork, execve, socket or ptrace)";
    case JailEnd::How::out_of_time:
      return fmt::format("the program ran longer than {:g} s", limit_s);
  }
  return "?";
}

std::string shown_to_compilers(const fs::path& path) {
  const std::string normal = path.lexically_normal().string() + "/";
  for (std::string folder : kFoldersOfCompilers) {
    if (normal.starts_with(folder + "/")) return folder;
  }
  return "";
}

std::string why_no_jail() {
  static const std::string why = []() -> std::string {
    if (::access(kBubblewrap, X_OK) != 0) {
      return fmt::format("{} not found; install the package bubblewrap", kBubblewrap);
    }
    const JailEnd end = run_in_jail({.command = {"/usr/bin/true"}, .compiles = true, .limit_s = 30}, true);
    if (end.how == JailEnd::How::exited && end.code == 0) return "";
    return fmt::format(
        "bubblewrap failed: {}; if user namespaces are disabled, enable them as root (sysctl "
        "kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0)",
        end.printed.empty() ? describe(end, 30) : end.printed.substr(0, end.printed.find('\n')));
  }();
  return why;
}

void watch_jails(std::function<void(const JailRequest&)> seen) { watcher = std::move(seen); }

Jailed::Jailed(const JailRequest& request, bool in_jail) : request_(request), begin_s_(now_s()) {
  if (watcher) watcher(request);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw unavailable("cannot create a pipe: {}", std::strerror(errno));
  const int filter = in_jail ? system_call_filter(request.compiles) : -1;
  // The child gets descriptors from kFirstPassed on. Ours must be above them, so that dup2 does not close one in use.
  const int beyond = kFirstPassed + static_cast<int>(request.passed.size()) + 1;
  std::vector<int> passed;
  for (const int number : request.passed) passed.push_back(::fcntl(number, F_DUPFD_CLOEXEC, beyond));
  if (filter >= 0) passed.push_back(::fcntl(filter, F_DUPFD_CLOEXEC, beyond));
  const int prints = ::fcntl(pipe[1], F_DUPFD_CLOEXEC, beyond), nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  std::vector<std::string> words =
      in_jail ? jail_words(request, kFirstPassed + static_cast<int>(passed.size()) - 1) : request.command;
  std::vector<std::string> environment{"PATH=/usr/bin:/bin", "LC_ALL=C", "TMPDIR=/tmp", "HOME=/tmp"};
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& each : environment) envp.push_back(each.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);

  const int64_t processor_s = static_cast<int64_t>(std::ceil(request.limit_s)) * usable_threads() + 1;
  ::signal(SIGCHLD, SIG_DFL);
  child_ = ::fork();
  if (child_ == 0) {  // only async-signal-safe calls from here on
    ::setsid();
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(prints, STDOUT_FILENO);
    ::dup2(prints, STDERR_FILENO);
    int next = kFirstPassed;
    for (const int number : passed) ::dup2(number, next++);
    ::syscall(SYS_close_range, next, ~0u, 0);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, request_.memory_bytes);
    limit(RLIMIT_FSIZE, request_.file_bytes);
    limit(RLIMIT_NOFILE, 256);
    limit(RLIMIT_CPU, processor_s);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  for (const int number : passed) ::close(number);
  for (const int number : {prints, nothing, pipe[1], filter}) {
    if (number >= 0) ::close(number);
  }
  prints_ = pipe[0];
  if (child_ < 0) {
    ::close(prints_);
    throw unavailable("cannot start a process: {}", std::strerror(errno));
  }
  ended_ = static_cast<int>(::syscall(SYS_pidfd_open, child_, 0));
  ::fcntl(prints_, F_SETFL, O_NONBLOCK);
}

Jailed::~Jailed() {
  stop();
  ::close(prints_);
  if (ended_ >= 0) ::close(ended_);
  if (program_ >= 0) ::close(program_);
}

void Jailed::stop() {
  if (child_ < 0) return;
  ::kill(-child_, SIGKILL);  // kills bubblewrap, and with it its jail, or an ordinary process group
  ::waitpid(child_, nullptr, 0);
  child_ = -1;
}

void Jailed::read_prints() {
  std::array<char, 65536> piece;
  constexpr int kMostPieces = 64;  // per call: some processes print faster than we read
  for (int i = 0; i < kMostPieces; ++i) {
    const ssize_t count = ::read(prints_, piece.data(), piece.size());
    if (count <= 0) break;
    end_.printed_bytes += count;
    const auto room = request_.output_bytes - static_cast<int64_t>(end_.printed.size());
    end_.printed.append(piece.data(), static_cast<size_t>(std::clamp<int64_t>(room, 0, count)));
  }
}

bool Jailed::wait_for(int number) {
  while (true) {
    const double left = request_.limit_s - (now_s() - begin_s_);
    if (left <= 0) {
      end_.how = JailEnd::How::out_of_time;
      end_.seconds = now_s() - begin_s_;
      read_prints();
      stop();
      return false;
    }
    std::array watched{pollfd{number, POLLIN, 0}, pollfd{ended_, POLLIN, 0}, pollfd{prints_, POLLIN, 0}};
    const int count = ::poll(watched.data(), watched.size(), static_cast<int>(std::min(left, 1e5) * 1e3) + 1);
    if (count < 0 && errno != EINTR) throw unavailable("cannot wait for a process: {}", std::strerror(errno));
    if (count <= 0) continue;
    if (watched[0].revents != 0) return true;
    if (watched[1].revents != 0) return false;
    read_prints();
    if ((watched[2].revents & POLLIN) == 0) ::usleep(1000);  // its write end is closed: no more output
  }
}

JailEnd Jailed::end() {
  if (child_ < 0) return end_;
  if (wait_for(-1) || child_ < 0) return end_;
  int status = 0;
  ::waitpid(child_, &status, 0);
  ::kill(-child_, SIGKILL);  // kills what an ordinary process left in its group
  child_ = -1;
  end_.seconds = now_s() - begin_s_;
  read_prints();
  // Like a shell, bubblewrap reports a signal as exit status 128 + signal.
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) - kSignalBase;
  if (signal <= 0 || signal > 64) signal = 0;
  end_.how = signal == 0 ? JailEnd::How::exited : signal == SIGSYS ? JailEnd::How::forbidden : JailEnd::How::crashed;
  end_.code = signal == 0 ? WEXITSTATUS(status) : signal;
  if (signal == SIGXCPU) end_.how = JailEnd::How::out_of_time;
  return end_;
}

pid_t Jailed::innermost() const {
  pid_t process = child_;
  for (;;) {
    std::ifstream children(fmt::format("/proc/{0}/task/{0}/children", process));
    pid_t child = 0;
    if (!(children >> child)) return process;  // bubblewrap has one child, which has one child in the jail
    process = child;
  }
}

void Jailed::freeze() {
  if (child_ < 0) return;
  if (program_ < 0) {
    program_number_ = innermost();
    program_ = static_cast<int>(::syscall(SYS_pidfd_open, program_number_, 0));
  }
  ::syscall(SYS_pidfd_send_signal, program_, SIGSTOP, nullptr, 0);
  constexpr int kMostTries = 1000, kPause_us = 100;
  for (int i = 0; i < kMostTries && !has_stopped(program_number_); ++i) ::usleep(kPause_us);
}

void Jailed::thaw() {
  if (program_ >= 0) ::syscall(SYS_pidfd_send_signal, program_, SIGCONT, nullptr, 0);
}

JailEnd run_in_jail(const JailRequest& request, bool in_jail) { return Jailed(request, in_jail).end(); }

}  // namespace convlab::judge
