// Runs judges as Slurm jobs.

#include "convlab/classroom/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/fingerprint.h"
#include "convlab/base/process.h"
#include "convlab/base/text.h"
#include "convlab/classroom/job.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

constexpr double kPoll_s = 1, kProgram_s = 60;
constexpr double kLate_s = 30;  ///< maximum delay until a file written by another machine is visible here
constexpr int64_t kMostSaid = 1 << 20, kKept = 4 << 10;

/// The Slurm name of a job. It includes a hash of the class folder, because several classes may share a cluster.
std::string slurm_name(const Folder& folder, const Lease& lease) {
  Fingerprint place;
  place.add(folder.root().string());
  return fmt::format("convlab-{}-{}", place.hex().substr(0, 8), job_name(lease));
}

ProcessRun run_slurm(std::vector<std::string> arguments) {
  const std::string program = arguments.front();
  return run_process(program, std::move(arguments), kProgram_s);
}

std::string last_of(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error) || fs::file_size(path, error) > kMostSaid) return "";
  const std::vector<uint8_t> bytes = read_file(path, kMostSaid);
  const size_t begin = bytes.size() > kKept ? bytes.size() - kKept : 0;
  return {bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end()};
}

class SlurmRun : public JudgeRun {
 public:
  SlurmRun(const Folder& folder, const Lease& lease, std::string id)
      : folder_(folder.jobs() / job_name(lease)), id_(std::move(id)) {}

  ~SlurmRun() override {
    if (ended_) return;
    try {
      run_slurm({"scancel", id_});
    } catch (const Error&) {  // then it ends at its time limit
    }
  }
  SlurmRun(const SlurmRun&) = delete;
  SlurmRun& operator=(const SlurmRun&) = delete;

  std::optional<End> end() override {
    if (seconds_since(looked_) < kPoll_s) return std::nullopt;
    looked_ = Clock::now();
    if (const std::string status = last_of(folder_ / "exit.txt"); status.ends_with('\n')) {
      ended_ = true;
      return End{static_cast<int>(parse_int(status.substr(0, status.size() - 1), "exit.txt", 0, 255)),
                 last_of(folder_ / "slurm.txt")};
    }
    const std::string state = lookup();
    if (slurm_state(state) == SlurmState::going_on) gone_since_.reset();
    if (slurm_state(state) == SlurmState::going_on) return std::nullopt;
    // It has ended, or Slurm does not know it. Its files may not be visible yet.
    if (!gone_since_) gone_since_ = Clock::now();
    if (seconds_since(*gone_since_) < kLate_s) return std::nullopt;
    ended_ = true;
    return End{-1, fmt::format("Slurm job {} disappeared ({})", id_, state.empty() ? "unknown state" : state)};
  }

 private:
  /// squeue forgets a job after some minutes; sacct does not, if accounting is enabled.
  std::string lookup() const {
    std::string state = run_slurm({"squeue", "--noheader", "--states=all", "--jobs=" + id_, "--format=%T"}).output;
    if (slurm_state(state) == SlurmState::unknown) {
      state =
          run_slurm({"sacct", "--noheader", "--parsable2", "--allocations", "--jobs=" + id_, "--format=State"}).output;
    }
    return printable(state.substr(0, state.find('\n')));
  }

  fs::path folder_;
  std::string id_;
  bool ended_ = false;
  Clock::time_point looked_ = Clock::now();
  std::optional<Clock::time_point> gone_since_;
};

}  // namespace

std::vector<std::string> sbatch_arguments(const Folder& folder, const Settings& settings, const Lease& lease,
                                          const std::string& judge) {
  const judge::JudgeLimits& limits = settings.assignment(lease.submission.assignment).limits;
  const fs::path place = folder.jobs() / job_name(lease);
  const double seconds = limits.compile_s + limits.record_s + limits.verify_s + limits.timing_s;
  std::vector<std::string> arguments{
      "sbatch",
      "--parsable",
      "--job-name=" + slurm_name(folder, lease),
      "--output=" + (place / "slurm.txt").string(),
      fmt::format("--time={}", static_cast<int64_t>(std::ceil(2 * seconds / 60)) + 1),
      // Includes memory for the judge's own processes.
      fmt::format("--mem={}M", (limits.memory_bytes >> 20) + 1024),
  };
  if (!settings.slurm.partition.empty()) arguments.push_back("--partition=" + settings.slurm.partition);
  if (!settings.slurm.gpus.empty()) arguments.push_back("--gpus=" + settings.slurm.gpus);
  arguments.push_back("--wrap=" + fmt::format("{} judge {} {}; echo $? >{}", shell_quoted(judge),
                                              shell_quoted(folder.root()), job_name(lease),
                                              shell_quoted(place / "exit.txt")));
  return arguments;
}

std::string slurm_job_id(const std::string& printed) {
  std::string id = printed.substr(0, printed.find_first_of(";\n"));
  if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos) {
    throw unavailable("sbatch: expected a job number, got '{}'", printable(printed));
  }
  return id;
}

SlurmState slurm_state(const std::string& printed) {
  constexpr std::array kGoingOn{"PENDING",  "RUNNING",   "CONFIGURING", "COMPLETING", "SUSPENDED",    "REQUEUED",
                                "RESIZING", "SIGNALING", "STAGE_OUT",   "STOPPED",    "REQUEUE_HOLD", "SPECIAL_EXIT"};
  const std::string state = printed.substr(0, printed.find_first_of(" |+\n"));
  if (state.empty()) return SlurmState::unknown;
  return std::ranges::find(kGoingOn, state) != kGoingOn.end() ? SlurmState::going_on : SlurmState::ended;
}

std::unique_ptr<JudgeRun> run_by_slurm(const Folder& folder, const Settings& settings, const Lease& lease,
                                       const std::string& judge) {
  for (Lease earlier = lease; --earlier.attempt > 0;) run_slurm({"scancel", "--name=" + slurm_name(folder, earlier)});
  const ProcessRun run = run_slurm(sbatch_arguments(folder, settings, lease, judge));
  if (run.status != 0) throw unavailable("sbatch rejected the job: {}", printable(run.complaint));
  return std::make_unique<SlurmRun>(folder, lease, slurm_job_id(run.output));
}

}  // namespace convlab::classroom
