#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convlab/classroom/judge_run.h"
#include "convlab/classroom/settings.h"
#include "convlab/classroom/store.h"

namespace convlab::classroom {

// Judging by Slurm: a job of Slurm's for each of ours, on a machine that shares the class's folder. Everything that
// Slurm's programs print is read here.

/// The arguments of sbatch for a job, its name first. `judge` is what runs there, `judge` DIR JOB.
std::vector<std::string> sbatch_arguments(const Folder& folder, const Settings& settings, const Lease& lease,
                                          const std::string& judge);

/// "123" of "123;cluster\n", what sbatch --parsable prints. Error(unavailable) where it is something else.
std::string slurm_job_id(const std::string& printed);

/// What a job's state means.
enum class SlurmState { going_on, ended, unknown };

/// "RUNNING\n" of squeue, "CANCELLED by 1000|\n" of sacct; the first line counts. Nothing is `unknown`.
SlurmState slurm_state(const std::string& printed);

/// Gives the job to Slurm, and ends what an earlier attempt left there. Error(unavailable) where Slurm is not there or
/// does not take it.
std::unique_ptr<JudgeRun> run_by_slurm(const Folder& folder, const Settings& settings, const Lease& lease,
                                       const std::string& judge);

}  // namespace convlab::classroom
