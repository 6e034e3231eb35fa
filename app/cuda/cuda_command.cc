// convlab cuda: runs whole CUDA programs on simt.

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "app/command.h"
#include "app/cuda/build_command.h"
#include "app/cuda/cuda_options.h"
#include "app/program.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/kernel_file/program_compiler.h"

namespace convlab::app {
namespace {

namespace fs = std::filesystem;

void require_sources(const CudaOptions& options, const std::string& verb) {
  if (options.sources.files.empty()) {
    throw bad_input("cuda {}: no source file given; for example: convlab cuda {} vecadd.cu", verb, verb);
  }
  std::error_code error;
  for (const fs::path& file : options.sources.files) {
    if (!fs::is_regular_file(file, error)) throw bad_input("{}: no such file", file.string());
  }
}

using Settings = std::map<std::string, std::string>;

/// Replaces this process by the program.
[[noreturn]] void become_program(const fs::path& program, const CudaOptions& options, const Settings& settings) {
  std::string name = options.sources.files.front().stem().string();
  std::vector<std::string> arguments{name};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> words;
  for (std::string& each : arguments) words.push_back(each.data());
  words.push_back(nullptr);
  for (const auto& [variable, value] : settings) ::setenv(variable.c_str(), value.c_str(), 1);
  ::execv(program.c_str(), words.data());
  throw unavailable("{}: cannot be started: {}", program.string(), std::strerror(errno));
}

/// Runs the program in a child process, and returns its exit status.
int status_of(const fs::path& program, const CudaOptions& options, const Settings& settings) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw unavailable("cannot start a process: {}", std::strerror(errno));
  if (child == 0) {
    try {
      become_program(program, options, settings);
    } catch (const Error& error) {
      std::fprintf(stderr, "convlab: error: %s\n", error.what());
      ::_exit(static_cast<int>(error.kind()));
    }
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// Runs the program once for each schedule. Their results become one JSON file.
void run_schedules(const fs::path& program, const CudaOptions& options) {
  const auto json = options.environment.find("CONVLAB_JSON");
  Json runs = Json::array();
  int first_status = 0, failed = 0;
  for (const std::string& schedule : options.schedules) {
    Settings settings = options.environment;
    settings["CONVLAB_SCHEDULE"] = schedule;
    std::fprintf(stderr, "convlab: --schedule %s\n", schedule.c_str());
    const int status = status_of(program, options, settings);
    failed += status != 0 ? 1 : 0;
    if (first_status == 0) first_status = status;
    if (json == options.environment.end()) continue;
    Json result = {{"schedule", schedule}};
    result.update(parse_json(read_text(json->second), json->second));
    runs.push_back(std::move(result));
  }
  if (json != options.environment.end()) write_file(json->second, json_text({{"runs", std::move(runs)}}, 2) + "\n");
  std::fprintf(stderr, "convlab: %d of %zu schedules failed\n", failed, options.schedules.size());
  if (first_status != 0) throw ExitStatus{first_status};
}

/// Returns the settings of a single run.
Settings settings_of(const CudaOptions& options) {
  if (options.schedules.size() > 1) throw bad_input("cuda build: --schedule takes one schedule, not several");
  Settings settings = options.environment;
  if (!options.schedules.empty()) settings["CONVLAB_SCHEDULE"] = options.schedules.front();
  return settings;
}

void run(const fs::path& program, const CudaOptions& options) {
  if (options.schedules.size() > 1) return run_schedules(program, options);
  become_program(program, options, settings_of(options));
}

/// Makefiles read the release from the output of `nvcc --version`.
std::string version_text() {
  return "convlab-nvcc " CONVLAB_VERSION
         ": compiles CUDA programs for CPUs\nCuda compilation tools, release 13.0, V13.0.0\n";
}

void do_cuda(const std::vector<std::string>& words, Output& output) {
  if (words.empty()) throw bad_input("cuda: expected run or build; 'convlab cuda --help' shows examples");
  const std::string& verb = words.front();
  if (verb == "--help" || verb == "-h") return output.print("{}", cuda_help());
  if (verb != "run" && verb != "build") {
    throw bad_input("cuda: unknown word '{}'; expected run or build", verb);
  }
  CudaOptions options = parse_cuda_options({words.begin() + 1, words.end()});
  if (options.help) return output.print("{}", cuda_help());
  if (options.version) return output.print("{}", version_text());
  require_sources(options, verb);
  if (verb == "build") {
    options.sources.settings = settings_of(options);
    return build(options);
  }
  run(build_program(options.sources), options);
}

}  // namespace

Action declare_cuda(CLI::App& options) {
  const auto words = std::make_shared<std::vector<std::string>>();
  take_rest(options, *words);
  return [words](Output& output) { do_cuda(*words, output); };
}

}  // namespace convlab::app
