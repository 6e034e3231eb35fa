// Runs a judge as a child process.

#include "convlab/classroom/judge_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "convlab/base/error.h"

namespace convlab::classroom {
namespace {

constexpr off_t kMostComplaint = 4 << 10;
constexpr int kSignalBase = 128;

class LocalRun : public JudgeRun {
 public:
  explicit LocalRun(const std::vector<std::string>& arguments) : said_(::memfd_create("convlab-judge", MFD_CLOEXEC)) {
    std::vector<std::string> words = arguments;
    std::vector<char*> argv;
    for (std::string& each : words) argv.push_back(each.data());
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    ::signal(SIGCHLD, SIG_DFL);
    process_ = ::fork();
    if (process_ == 0) {
      // Only async-signal-safe calls until exec. Its own process group, so that all of its processes can be killed.
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      const int nothing = ::open("/dev/null", O_RDWR);
      ::dup2(nothing, STDIN_FILENO);
      ::dup2(nothing, STDOUT_FILENO);
      ::dup2(said_, STDERR_FILENO);
      ::execvp(argv[0], argv.data());
      constexpr int kCannotStart = 127;
      ::_exit(kCannotStart);
    }
    if (process_ < 0) throw unavailable("cannot start '{}': {}", fmt::join(arguments, " "), std::strerror(errno));
  }

  ~LocalRun() override {
    if (process_ > 0) {
      ::kill(-process_, SIGKILL);
      ::kill(process_, SIGKILL);
      while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    ::close(said_);
  }
  LocalRun(const LocalRun&) = delete;
  LocalRun& operator=(const LocalRun&) = delete;

  std::optional<End> end() override {
    int status = 0;
    const pid_t ended = ::waitpid(process_, &status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
    ::kill(-process_, SIGKILL);  // kills the processes that it left behind
    process_ = -1;
    return End{WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status), complaint()};
  }

 private:
  std::string complaint() const {
    const off_t size = ::lseek(said_, 0, SEEK_END);
    std::string text(static_cast<size_t>(std::clamp<off_t>(size, 0, kMostComplaint)), '\0');
    const ssize_t count = ::pread(said_, text.data(), text.size(), std::max<off_t>(size - kMostComplaint, 0));
    text.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
    return text;
  }

  int said_;
  pid_t process_ = -1;
};

}  // namespace

std::unique_ptr<JudgeRun> run_here(const std::vector<std::string>& arguments) {
  return std::make_unique<LocalRun>(arguments);
}

}  // namespace convlab::classroom
