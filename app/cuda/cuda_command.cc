// convlab cuda: runs whole CUDA programs on simt.

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "app/command.h"
#include "app/cuda/cuda_options.h"
#include "convlab/base/error.h"

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

[[noreturn]] void run_program_file(const fs::path& program, const CudaOptions& options) {
  std::string name = options.sources.files.front().stem().string();
  std::vector<std::string> arguments{name};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<char*> words;
  for (std::string& each : arguments) words.push_back(each.data());
  words.push_back(nullptr);
  for (const auto& [variable, value] : options.environment) ::setenv(variable.c_str(), value.c_str(), 1);
  ::execv(program.c_str(), words.data());
  throw unavailable("{}: cannot be started: {}", program.string(), std::strerror(errno));
}

void write_program_file(const fs::path& program, const CudaOptions& options) {
  const fs::path target = options.output.empty() ? fs::path("a.out") : options.output;
  std::error_code error;
  fs::copy_file(program, target, fs::copy_options::overwrite_existing, error);
  if (error) throw bad_input("{}: {}", target.string(), error.message());
}

void do_cuda(const std::vector<std::string>& words, Output& output) {
  if (words.empty()) throw bad_input("cuda: expected run or build; 'convlab cuda --help' shows examples");
  const std::string& verb = words.front();
  if (verb == "--help" || verb == "-h") return output.print("{}", cuda_help());
  if (verb != "run" && verb != "build") {
    throw bad_input("cuda: unknown word '{}'; expected run or build", verb);
  }
  const CudaOptions options = parse_cuda_options({words.begin() + 1, words.end()});
  if (options.help) return output.print("{}", cuda_help());
  require_sources(options, verb);
  const fs::path program = build_program(options.sources);
  if (verb == "run") run_program_file(program, options);
  write_program_file(program, options);
}

}  // namespace

Action declare_cuda(CLI::App& options) {
  const auto words = std::make_shared<std::vector<std::string>>();
  take_rest(options, *words);
  return [words](Output& output) { do_cuda(*words, output); };
}

}  // namespace convlab::app
