// Runs this program as a child process.

#include "app/child.h"

#include "convlab/base/process.h"

namespace convlab::app {

ChildRun run_child(std::vector<std::string> arguments) {
  const double begin_s = monotonic_s();
  ProcessRun run = run_process("/proc/self/exe", std::move(arguments));
  return {
      .status = run.status,
      .output = std::move(run.output),
      .complaint = std::move(run.complaint),
      .begin_s = begin_s,
      .usage = {
          .user_s = run.user_s, .system_s = run.system_s, .elapsed_s = run.elapsed_s, .max_rss_kb = run.max_rss_kb}};
}

}  // namespace convlab::app
