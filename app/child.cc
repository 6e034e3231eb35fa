#include "app/child.h"

#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>

#include "convlab/base/error.h"

namespace convlab::app {
namespace {

using File = std::unique_ptr<FILE, decltype([](FILE* file) { std::fclose(file); })>;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

std::string content(FILE* file) {
  std::rewind(file);
  std::string text;
  std::array<char, 4096> part;
  while (const size_t count = std::fread(part.data(), 1, part.size(), file)) text.append(part.data(), count);
  return text;
}

}  // namespace

ChildRun run_child(const std::vector<std::string>& arguments) {
  // Files, since a process that fills one of two pipes would wait for a reader of the other.
  const File output(std::tmpfile()), complaint(std::tmpfile());
  if (!output || !complaint) throw unavailable("no temporary file can be made: {}", std::strerror(errno));
  std::vector<std::string> words = arguments;
  words.insert(words.begin(), "convlab");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(output.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ::fileno(complaint.get()), STDERR_FILENO);
  const auto begin = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw unavailable("convlab {} cannot be started: {}", arguments.front(), std::strerror(error));
  int status = 0;
  rusage used{};
  while (::wait4(child, &status, 0, &used) < 0) {
    if (errno != EINTR) throw unavailable("convlab {}: {}", arguments.front(), std::strerror(errno));
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  constexpr int kSignalBase = 128;
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : kSignalBase + WTERMSIG(status),
          .output = content(output.get()),
          .complaint = content(complaint.get()),
          .usage = {.user_s = seconds(used.ru_utime),
                    .system_s = seconds(used.ru_stime),
                    .elapsed_s = elapsed.count(),
                    .max_rss_kb = used.ru_maxrss}};
}

}  // namespace convlab::app
