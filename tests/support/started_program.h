#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "tests/support/program_run.h"

namespace convlab {

/// A process of the binary that a test can signal.
class StartedProgram {
 public:
  StartedProgram(std::vector<std::string> arguments, const std::string& complaint_file) : file_(complaint_file) {
    arguments.insert(arguments.begin(), convlab_program());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    child_ = ::fork();
    if (child_ != 0) return;
    constexpr int kMode = 0600, kCannotStart = 127;
    ::dup2(::open("/dev/null", O_RDWR), STDOUT_FILENO);
    ::dup2(::open(complaint_file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kMode), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(kCannotStart);
  }

  void send(int signal) const { ::kill(child_, signal); }

  /// Returns the exit status, or 128 + the number of the signal that ended it.
  int wait() const {
    int status = 0;
    EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::string complaint() const { return read_text(file_); }

 private:
  std::string file_;
  pid_t child_ = -1;
};

}  // namespace convlab
