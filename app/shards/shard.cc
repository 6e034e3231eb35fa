// Finds out which share of the images a process computes.

#include "app/shards/shard.h"

#include <string_view>

#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/device/cuda.h"

namespace convlab::app {
namespace {

/// The environment variables that a launcher sets for its processes. An MPI launcher may itself run under srun, so MPI
/// launchers come first.
struct Launcher {
  const char *name, *rank, *size, *local_rank;
  const char* ids[2];  ///< together they identify a launch; some may be missing
};

constexpr Launcher kLaunchers[] = {
    // Open MPI: https://docs.open-mpi.org/en/v5.0.x/tuning-apps/environment-var.html
    {"mpirun",
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK",
     {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}},
    // MPICH and Intel MPI.
    {"mpiexec", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", {"PMI_JOBID", "PMI_KVS"}},
    // https://slurm.schedmd.com/srun.html: a batch script has a SLURM_PROCID, too, but is not a task of a step.
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", {"SLURM_JOB_ID", "SLURM_STEP_ID"}},
};

}  // namespace

int64_t Shard::some_images(int64_t n) const {
  if (const int64_t own = images(n); own > 0) return own;
  throw bad_input("share {}/{} of {} images is empty; use at least as many images as shares", index, count, n);
}

Shard parse_shard(const std::string& text, const std::string& name) {
  const std::vector<std::string> parts = split(text, '/');
  if (parts.size() != 2)
    throw bad_input("{} must be I/N, for example 0/4 for the first of four shares, got '{}'", name, printable(text));
  Shard shard{.count = parse_int(parts[1], name, 1, kMostShards)};
  shard.index = parse_int(parts[0], name, 0, kMostShards);
  if (shard.index >= shard.count) {
    throw bad_input("{} {}: no such share; shares are numbered from 0/{} to {}/{}", name, text, shard.count,
                    shard.count - 1, shard.count);
  }
  return shard;
}

Shard launched_shard(const std::function<const char*(const char*)>& variable) {
  for (const Launcher& launcher : kLaunchers) {
    const char *const rank = variable(launcher.rank), *const size = variable(launcher.size);
    const bool batch_script = size == nullptr && launcher.name == std::string_view("srun");
    if (batch_script || (rank == nullptr && size == nullptr)) continue;
    if (rank == nullptr || size == nullptr) {
      throw bad_input("{} is set but {} is not; choose the share with --shard",
                      rank != nullptr ? launcher.rank : launcher.size, rank != nullptr ? launcher.size : launcher.rank);
    }
    Shard shard{.index = parse_int(rank, launcher.rank, 0, kMostShards),
                .count = parse_int(size, launcher.size, 1, kMostShards)};
    if (shard.index >= shard.count) {
      throw bad_input("{} is {} and {} is {}: no such share; choose it with --shard", launcher.rank, rank,
                      launcher.size, size);
    }
    if (shard.whole()) return {};
    shard.launch = launcher.name;
    for (const char* const id : launcher.ids) {
      if (const char* const value = variable(id)) shard.launch += std::string(" ") + value;
    }
    if (const char* const local = variable(launcher.local_rank)) {
      shard.local_index = parse_int(local, launcher.local_rank, 0, kMostShards);
    }
    return shard;
  }
  return {};
}

std::string device_of(const Shard& shard, const std::string& device) {
  const bool any = device == "cuda" || (device == "auto" && cuda_present());
  if (!shard.launched() || !any) return device;
  return fmt::format("cuda:{}", shard.local_index % std::ssize(list_cuda()));
}

}  // namespace convlab::app
