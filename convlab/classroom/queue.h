#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace convlab::classroom {

// The queue as pure functions of what waits and what runs.

/// One submission that is to be judged.
struct QueuedJob {
  int64_t job = 0, submission = 0, student = 0;
  double arrived_s = 0;            ///< of its submission, seconds since 1970
  std::string assignment, device;  ///< the assignment's device: "simt", "cuda", "cuda:1"
};

/// A job that a worker has.
struct RunningJob {
  QueuedJob job;
  double left_s = 0;  ///< until it probably ends
};

/// The index in `waiting` of what a worker takes next, of the jobs that fit it: of the students with the fewest jobs
/// running and waiting, the oldest. nullopt where none fits.
std::optional<size_t> next_job(const std::vector<QueuedJob>& waiting, const std::vector<RunningJob>& running,
                               const std::function<bool(const QueuedJob&)>& fits);

/// When a waiting job's turn comes.
struct Turn {
  int64_t place = 0;            ///< 1: it is the next to start on its device
  std::optional<double> due_s;  ///< until its verdict; nullopt where nobody knows yet how long jobs take
};

/// How long an assignment's jobs take on a device; nullopt: nobody knows yet.
using Durations = std::map<std::pair<std::string, std::string>, double>;

/// The turns of all of `waiting`, in its order, if nothing else arrives. `workers`: how many jobs a device takes at
/// once; 1 where it is not named.
std::vector<Turn> turns(const std::vector<QueuedJob>& waiting, const std::vector<RunningJob>& running,
                        const Durations& durations, const std::map<std::string, int>& workers);

/// What one judged job spent in one stage.
struct StageTime {
  std::string stage;
  double seconds = 0;
};

/// What stages usually take, from jobs that are done: means, since many jobs add up to so many means. A job that took
/// more than three times the median counts as three times, so that one that hung does not count for all.
class UsualStages {
 public:
  /// Each job's stages, in order.
  explicit UsualStages(const std::vector<std::vector<StageTime>>& jobs);

  bool known() const { return !stages_.empty(); }

  /// Of a whole job: each stage's time, times the share of the jobs that come so far.
  double job_s() const;

  /// Of a job that has been in this stage for so long.
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
