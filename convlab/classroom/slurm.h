#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/judge_run.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

// Judging with Slurm: one Slurm job per job, on a machine that shares the class folder. All parsing of Slurm's output
// is here.

/// Returns the sbatch command line for a job. `judge` is the program that runs there, as `judge` DIR JOB.
std::vector<std::string> sbatch_arguments(const Folder& folder, const Settings& settings, const Lease& lease,
                                          const std::string& judge);

/// Parses the output of sbatch --parsable: "123" for "123;cluster\n". Throws Error(unavailable) for anything else.
std::string slurm_job_id(const std::string& printed);

/// Whether a Slurm job still exists.
enum class SlurmState { going_on, ended, unknown };

/// Parses the first line of squeue's ("RUNNING\n") or sacct's output ("CANCELLED by 1000|\n"). Empty output is
/// `unknown`.
SlurmState slurm_state(const std::string& printed);

/// Submits the job to Slurm, after it cancels earlier attempts there. Throws Error(unavailable) if Slurm is missing or
/// rejects the job.
std::unique_ptr<JudgeRun> run_by_slurm(const Folder& folder, const Settings& settings, const Lease& lease,
                                       const std::string& judge);

}  // namespace convlab::classroom
