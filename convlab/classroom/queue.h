#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

// The queue as pure functions of waiting and running jobs.

/// A submission waiting to be judged.
struct QueuedJob {
  int64_t job = 0, submission = 0, student = 0;
  double arrived_s = 0;            ///< of the submission, seconds since 1970
  std::string assignment, device;  ///< the assignment's device: "simt", "cuda", "cuda:1"
};

/// A job that a worker holds.
struct RunningJob {
  QueuedJob job;
  double left_s = 0;  ///< estimated time until it ends
};

/// Returns the index in `waiting` of the job that a worker takes next, among those that fit it: the oldest job of the
/// students with the fewest running and waiting jobs. Returns nullopt if none fits.
std::optional<size_t> next_job(const std::vector<QueuedJob>& waiting, const std::vector<RunningJob>& running,
                               const std::function<bool(const QueuedJob&)>& fits);

/// When a waiting job will be judged.
struct Turn {
  int64_t place = 0;            ///< 1: next to start on its device
  std::optional<double> due_s;  ///< time until its verdict; nullopt if job durations are not known yet
};

/// Usual duration of an assignment's jobs on a device, in seconds; no entry if it is not known yet.
using Durations = std::map<std::pair<std::string, std::string>, double>;

/// Returns the turns of all jobs in `waiting`, in the same order, if nothing else arrives. `workers`: how many jobs
/// each device runs at once; 1 if it is not listed.
std::vector<Turn> turns(const std::vector<QueuedJob>& waiting, const std::vector<RunningJob>& running,
                        const Durations& durations, const std::map<std::string, int>& workers);

/// Time that a judged job spent in one stage.
struct StageTime {
  std::string stage;
  double seconds = 0;
};

/// Usual stage times from finished jobs. Uses means, because they add up over many jobs. Times above three times a
/// stage's median are clamped to that, so that one job that hung has little influence.
class UsualStages {
 public:
  /// `jobs`: each job's stages, in order.
  explicit UsualStages(const std::vector<std::vector<StageTime>>& jobs);

  bool known() const { return !stages_.empty(); }

  /// Returns the expected time of a whole job: each stage's time, weighted by the fraction of jobs that reach it.
  double job_s() const;

  /// Returns the expected remaining time of a job that has been in this stage for `since_s`.
  double left_s(const std::string& stage, double since_s) const;

 private:
  struct Stage {
    std::string name;
    double usual_s = 0;
    double share = 0;
  };
  std::vector<Stage> stages_;  ///< in order
};

}  // namespace convlab::classroom
