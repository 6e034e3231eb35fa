// A process runs `convlab run` and tells where its time went; this one sees when it began and when it was gone.

#include "app/whole_run.h"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/usage.h"
#include "convlab/base/error.h"

namespace convlab::app {
namespace {

/// An open file that is closed with the value.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

/// A file without a name: what a process writes to it can be read when it has ended, and no pipe can run full.
int open_scratch() {
  const int number = ::memfd_create("convlab", MFD_CLOEXEC);
  if (number < 0) throw unavailable("timing a whole run: cannot make a scratch file: {}", std::strerror(errno));
  return number;
}

std::string content_of(const Descriptor& file) {
  std::string text;
  std::array<char, 4096> piece;
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(file.get(), piece.data(), piece.size(), at);
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<size_t>(count));
    at += count;
  }
}

DeviceKind device_named(const std::string& name) {
  for (DeviceKind kind : {DeviceKind::cuda, DeviceKind::simt}) {
    if (name == name_of(kind)) return kind;
  }
  return DeviceKind::cpu;
}

/// Error as the run ended with, if it did.
void require_success(int status, const std::string& complaint) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  const bool known = WIFEXITED(status) && WEXITSTATUS(status) <= static_cast<int>(ErrorKind::unavailable);
  constexpr std::string_view kPrefix = "convlab: ";
  std::string message = complaint.substr(0, complaint.find_last_not_of('\n') + 1);
  message = message.substr(message.rfind('\n') + 1);  // notes may stand before it
  if (message.starts_with(kPrefix)) message = message.substr(kPrefix.size());
  if (message.empty()) message = fmt::format("timing a whole run: it ended with status {}", status);
  throw Error(known ? static_cast<ErrorKind>(WEXITSTATUS(status)) : ErrorKind::bad_input, message);
}

}  // namespace

WholeRun time_whole_run(const RunOptions& options) {
  const Descriptor output(open_scratch()), complaint(open_scratch());
  std::vector<std::string> arguments = run_command(options);
  arguments.insert(arguments.end(), {"--json", "-"});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, complaint.get(), STDERR_FILENO);
  pid_t child = 0;
  const double begin_s = monotonic_s();
  const int failure = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) throw unavailable("timing a whole run: cannot start it: {}", std::strerror(failure));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const double ended_s = monotonic_s() - begin_s;
  require_success(status, content_of(complaint));

  const nlohmann::json json = nlohmann::json::parse(content_of(output));
  const nlohmann::json& stages = json.at("stages");
  WholeRun run{.device = device_named(json.at("device")),
               .main_s = stages.at("began_monotonic_s").get<double>() - begin_s,
               .done_s = stages.at("told_monotonic_s").get<double>() - begin_s,
               .ended_s = ended_s,
               .json_s = stages.at("json_s").get<double>()};
  for (const nlohmann::json& each : json.at("layers")) run.layers_s += each.at("op_time_s").get<double>();
  for (const nlohmann::json& each : stages.at("times")) {
    const std::optional<Stage> stage = find_stage(each.at("name").get<std::string>());
    if (stage) run.stages.push_back({*stage, each.at("s").get<double>()});
  }
  return run;
}

}  // namespace convlab::app
