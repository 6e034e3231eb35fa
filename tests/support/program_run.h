#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "convlab/base/file.h"
#include "tests/support/paths.h"
#include "tests/support/temporary_folder.h"

namespace convlab {

/// The result of one run of the convlab binary.
struct ProgramRun {
  int status = -1;  ///< exit status, or 128 + the number of the signal that killed it
  std::string output, complaint;
  int64_t max_rss_kb = 0;
};

/// Runs the binary with these arguments. Its standard output goes to `output_path`, or to the result if that is empty.
inline ProgramRun run_program(std::vector<std::string> arguments, const std::filesystem::path& output_path = {}) {
  const TemporaryFolder folder;
  const std::string out = output_path.empty() ? (folder.path() / "out").string() : output_path.string();
  const std::string err = (folder.path() / "err").string();
  arguments.insert(arguments.begin(), convlab_program());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  const pid_t child = ::fork();
  if (child == 0) {
    constexpr int kMode = 0600, kCannotStart = 127;
    ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, kMode), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, kMode), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(kCannotStart);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || ::wait4(child, &status, 0, &used) != child) {
    ADD_FAILURE() << "cannot run " << arguments[0] << ": " << std::strerror(errno);
    return {};
  }
  const auto text_of = [](const std::string& path) {
    const std::vector<uint8_t> bytes = read_file(path);
    return std::string(bytes.begin(), bytes.end());
  };
  constexpr int kSignalBase = 128;
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status),
          .output = output_path.empty() ? text_of(out) : "",
          .complaint = text_of(err),
          .max_rss_kb = used.ru_maxrss};
}

}  // namespace convlab
