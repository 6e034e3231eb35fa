// convlab class work: runs a worker, which judges one submission at a time.

#include <filesystem>
#include <memory>
#include <string>

#include "app/class/commands.h"
#include "app/results/output_streams.h"
#include "convlab/base/error.h"
#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/class_worker.h"
#include "convlab/classroom/job.h"
#include "convlab/classroom/slurm.h"

namespace convlab::app {
namespace {

struct WorkerOptions {
  std::string folder, device, via = "local";
  bool until_empty = false;
};

void work_on(const WorkerOptions& options) {
  const classroom::Folder folder(options.folder);
  folder.require_owned("work");
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto start = [&](const classroom::Lease& lease) {
    if (options.via == "slurm") {
      return classroom::run_by_slurm(folder, classroom::read_settings(folder), lease, program);
    }
    // The judge's temporary files are in the job's folder and deleted with it, even if both processes are killed.
    const std::string job = classroom::job_name(lease);
    return classroom::run_here(
        {"env", "TMPDIR=" + (folder.jobs() / job).string(), program, "judge", folder.root().string(), job});
  };
  classroom::work(folder,
                  {.device = options.device,
                   .until_empty = options.until_empty,
                   .start = start,
                   .tell = [](const std::string& line) { fmt::print(messages_stream(), "convlab: {}\n", line); }});
}

}  // namespace

Action declare_class_work(CLI::App& options) {
  auto chosen = std::make_shared<WorkerOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder"));
  add_text(options, "--device", chosen->device, "D",
           "judge only submissions for this device: cpu, simt or cuda:N (default: all)");
  add_choice(options, "--via", chosen->via, {"local", "slurm"},
             "where the judge runs: on this machine, or on a Slurm node that shares DIR (default: local)");
  add_flag(options, "--until-empty", chosen->until_empty, "exit when no submission is queued or running");
  return [chosen](Output&) { work_on(*chosen); };
}

}  // namespace convlab::app
