// Runs compilers in jails.

#include "convlab/judge/jailed_compiler.h"

#include <string>
#include <string_view>
#include <system_error>

#include "convlab/base/process.h"
#include "convlab/judge/jail.h"

namespace convlab::judge {
namespace fs = std::filesystem;
namespace {

/// Returns the real compiler if `nvcc` is a wrapper script, as in some containers: a jail shows the toolkit but no
/// scripts.
fs::path real_nvcc(const std::string& nvcc) {
  // nvcc prints its configuration variables, including "#$ _HERE_=/usr/local/cuda-13.0/bin".
  constexpr std::string_view kHere = "_HERE_=";
  const std::string printed = run_process(nvcc, {nvcc, "--dryrun", "-E", "-x", "cu", "/dev/null"}).complaint;
  const size_t found = printed.find(kHere);
  if (found == std::string::npos) return nvcc;
  const size_t first = found + kHere.size();
  return fs::path(printed.substr(first, printed.find('\n', first) - first)) / "nvcc";
}

/// Adds the folders that a toolkit outside of the system folders needs: for /usr/local/cuda/bin/nvcc these are
/// /usr/local/cuda/bin, include, ..., and the same folders at the target of a symbolic link.
void add_toolkit(const fs::path& compiler, std::vector<fs::path>& shown) {
  std::error_code error;
  for (const fs::path& program : {compiler, fs::canonical(compiler, error)}) {
    if (program.empty() || !shown_to_compilers(program).empty()) continue;
    for (const char* folder : {"bin", "include", "lib", "lib64", "libexec", "nvvm", "targets"}) {
      const fs::path path = program.parent_path().parent_path() / folder;
      if (fs::is_directory(path, error)) shown.push_back(path);
    }
  }
}

ProcessRun run(const CompilerCommand& command, const KernelSource& source, const JudgeLimits& limits, bool in_jail,
               std::atomic<bool>& late) {
  std::vector<std::string> words = command.words;
  if (fs::path(words.front()).filename() == "nvcc") words.front() = real_nvcc(words.front()).string();
  std::vector<fs::path> shown = command.shown;
  shown.push_back(source.path);
  add_toolkit(words.front(), shown);
  const JailEnd end = run_in_jail({.command = words,
                                   .shown = shown,
                                   .writable = {command.made.parent_path()},
                                   .compiles = true,
                                   .limit_s = command.limit_s,
                                   .memory_bytes = limits.memory_bytes,
                                   .output_bytes = limits.output_bytes},
                                  in_jail);
  constexpr int kSignalBase = 128;
  const bool is_late = end.how == JailEnd::How::out_of_time;
  if (is_late) late = true;
  return {.status = end.how == JailEnd::How::exited ? end.code
                    : is_late                       ? 1
                                                    : kSignalBase + end.code,
          .out_of_time = is_late,
          .complaint = end.printed,
          .elapsed_s = end.seconds};
}

}  // namespace

CompilerRunner jailed_compiler(const KernelSource& source, const JudgeLimits& limits, bool in_jail,
                               std::atomic<bool>& late) {
  return [&source, &limits, in_jail, &late](const CompilerCommand& command) {
    return run(command, source, limits, in_jail, late);
  };
}

}  // namespace convlab::judge
