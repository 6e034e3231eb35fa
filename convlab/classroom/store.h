#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convlab/classroom/queue.h"
#include "convlab/classroom/storage/sqlite.h"
#include "convlab/judge/judgement.h"

namespace convlab::classroom {

struct Student {
  int64_t id = 0;
  std::string name, secret;
};

/// A submission and its state.
struct Submission {
  int64_t number = 0;   ///< 0: still in the spool
  std::string receipt;  ///< see spool.h
  Student student;
  std::string assignment, device, file;
  double arrived_s = 0;  ///< seconds since 1970
  judge::Stage stage = judge::Stage::queued;
  std::optional<judge::Judgement> judgement;  ///< of the last finished job
  std::string complaint;                      ///< the judge's own error, for the class owner only

  /// Returns whether it has its verdict and no job is pending.
  bool is_done() const { return stage == judge::Stage::done && judgement.has_value(); }
};

/// A filter for submissions. Unset members match anything.
struct Which {
  std::optional<int64_t> number, student;
  std::string assignment, receipt;
  int64_t newest = INT64_MAX;  ///< only this many of the newest
  bool with_logs = true;       ///< include stage logs, which are most of a judgment
};

/// A worker's right to a job. It ends when the worker's heartbeats stop; then another attempt begins.
struct Lease {
  int64_t job = 0, attempt = 0;
  std::string worker;
  double taken_s = 0;  ///< monotonic clock of this machine
  Submission submission;
};

/// The public state of the queue.
struct QueueState {
  int64_t next_number = 1;
  std::vector<QueuedJob> waiting;
  std::vector<RunningJob> running;
  Durations durations;
  std::map<std::string, int> workers;  ///< by device
};

/// A rejected spool file, or a refusal beyond a student's daily limit.
struct Misfit {
  std::string name;  ///< of the file
  int64_t uid = 0;   ///< its owner
  std::string reason;
  double at_s = 0;
};

/// class.db: students, submissions, jobs and results. A submission has one job, and another one each time it is
/// regraded. A job has one result, written together with its end.
class Store {
 public:
  /// Creates the tables in a new file, and those that an older version lacks. Throws Error(bad_input) if a newer
  /// convlab created the file or, for read-only access, an older one.
  explicit Store(const std::filesystem::path& path, Access access = Access::write);

  Database& database() { return database_; }

  // Students.
  Student student(const std::string& name);  ///< created if missing
  std::optional<Student> student_by_secret(const std::string& secret);
  void set_secret(int64_t student, const std::string& secret);
  std::vector<Student> students();

  // Submissions.
  bool knows(const std::string& receipt);
  int64_t next_number();
  std::set<int64_t> numbers_of(int64_t student);
  int64_t arrived_since(int64_t student, double since_s);
  int64_t sent_since(int64_t student, double since_s);      ///< submissions that were not refused on arrival
  int64_t refused_since(int64_t student, double since_s);   ///< submissions that were refused on arrival
  void add(const Submission& submission);                   ///< with a queued job or, with a judgment, its result
  std::vector<Submission> submissions(const Which& which);  ///< in order of number
  bool judge_again(int64_t number);                         ///< adds a job; false if one is waiting or running

  // Rejected spool files.
  void add_misfit(const Misfit& misfit);
  int64_t misfits_since(int64_t uid, double since_s);
  std::vector<Misfit> misfits();
  std::optional<Misfit> misfit(const std::string& name);
  void forget_misfits();

  // Jobs and leases. beat() is a worker's heartbeat, in seconds of this machine's monotonic clock.
  QueueState queue(double lease_s);
  void beat(const std::string& worker, const std::string& device);
  void leave(const std::string& worker);
  /// Ends the leases of workers without a heartbeat for `lease_s`.
  void end_leases(double lease_s);
  /// Takes the next job for a device, "" for any. A device runs one job at a time, except simt, which does not measure
  /// time.
  std::optional<Lease> take(const std::string& worker, const std::string& device, double lease_s);
  bool holds(const Lease& lease);
  void enter(const Lease& lease, judge::Stage stage);
  /// Stores the result. Returns false, and stores nothing, if the lease has ended.
  bool finish(const Lease& lease, const judge::Judgement& judgement);
  /// Queues the job again.
  void give_back(const Lease& lease);
  /// Records that the judge itself failed, and why.
  void complain(const Lease& lease, const std::string& why);
  /// Returns how often the judge itself failed at a job.
  int64_t failures(int64_t job);
  /// Returns whether a live worker takes jobs for the device.
  bool has_worker(const std::string& device, double lease_s);
  /// Returns the number of waiting and running jobs of a device, "" for any.
  int64_t unfinished(const std::string& device);

 private:
  Durations durations(std::map<std::pair<std::string, std::string>, UsualStages>& usual);

  Database database_;
};

/// Returns whether a worker for `device` may take a job for `wanted`: "" takes all, "cuda:1" also takes "cuda".
bool device_fits(const std::string& device, const std::string& wanted);

}  // namespace convlab::classroom
