#include "convlab/judge/jailed_compiler.h"

#include <system_error>

#include "convlab/judge/jail.h"

namespace convlab::judge {
namespace fs = std::filesystem;
namespace {

/// The folder of a toolkit that does not lie below /usr, which jails show: /opt/cuda of /opt/cuda/bin/nvcc; "" for
/// others.
fs::path toolkit_of(const fs::path& compiler) {
  std::error_code error;
  const fs::path program = fs::canonical(compiler, error);
  return error || program.string().starts_with("/usr/") ? fs::path() : program.parent_path().parent_path();
}

ProcessRun run(const CompilerCommand& command, const KernelSource& source, const JudgeLimits& limits, bool in_jail,
               std::atomic<bool>& late) {
  std::vector<fs::path> shown = command.shown;
  shown.push_back(source.path);
  if (const fs::path toolkit = toolkit_of(command.words.front()); !toolkit.empty()) shown.push_back(toolkit);
  const JailEnd end = run_in_jail({.command = command.words,
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
