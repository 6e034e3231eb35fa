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

/// One submission, and where it is.
struct Submission {
  int64_t number = 0;   ///< 0: it is not taken in yet
  std::string receipt;  ///< see spool.h
  Student student;
  std::string assignment, device, file;
  double arrived_s = 0;  ///< seconds since 1970
  judge::Stage stage = judge::Stage::queued;
  std::optional<judge::Judgement> judgement;  ///< of the last job that is done
  std::string complaint;                      ///< of the judge, where it failed; for the class's owner alone

  /// It has its verdict, and waits for no other one.
  bool is_done() const { return stage == judge::Stage::done && judgement.has_value(); }
};

/// Which submissions are meant; what is left out may be anything.
struct Which {
  std::optional<int64_t> number, student;
  std::string assignment, receipt;
  int64_t newest = INT64_MAX;  ///< of these, so many
  bool with_logs = true;       ///< what the stages said, which is most of a judgement
};

/// A worker's right to a job. It ends when the worker is not heard of, and then another attempt begins.
struct Lease {
  int64_t job = 0, attempt = 0;
  std::string worker;
  double taken_s = 0;  ///< by this machine's monotonic clock
  Submission submission;
};

/// The queue, as everybody may see it.
struct QueueState {
  int64_t next_number = 1;
  std::vector<QueuedJob> waiting;
  std::vector<RunningJob> running;
  Durations durations;
  std::map<std::string, int> workers;  ///< by device
};

/// What was in the spool and was no submission, or one refusal too many of a student.
struct Misfit {
  std::string name;  ///< of the file
  int64_t uid = 0;   ///< its owner
  std::string reason;
  double at_s = 0;
};

/// class.db: students, submissions, jobs, results. One submission has a job, and another for each time it is graded
/// again; a job has one result, written together with its end.
class Store {
 public:
  /// Makes the tables in a new file, and those that an older one lacks. Error(bad_input) where a newer convlab made
  /// them or, for reading only, an older one.
  explicit Store(const std::filesystem::path& path, Access access = Access::write);

  Database& database() { return database_; }

  // Students.
  Student student(const std::string& name);  ///< made where it is not there
  std::optional<Student> student_by_secret(const std::string& secret);
  void set_secret(int64_t student, const std::string& secret);
  std::vector<Student> students();

  // Submissions.
  bool knows(const std::string& receipt);
  int64_t next_number();
  std::set<int64_t> numbers_of(int64_t student);
  int64_t arrived_since(int64_t student, double since_s);
  int64_t sent_since(int64_t student, double since_s);     ///< submissions that were not refused on arrival
  int64_t refused_since(int64_t student, double since_s);  ///< those that were
  void add(const Submission& submission);  ///< with a job that waits or, with a judgement, with its result
  std::vector<Submission> submissions(const Which& which);  ///< in order
  bool judge_again(int64_t number);                         ///< a new job; false, and none, where one waits or runs

  // What was set aside.
  void add_misfit(const Misfit& misfit);
  int64_t misfits_since(int64_t uid, double since_s);
  std::vector<Misfit> misfits();
  std::optional<Misfit> misfit(const std::string& name);
  void forget_misfits();

  // Jobs and leases. A worker is heard of by beat(), in seconds of this machine's monotonic clock.
  QueueState queue(double lease_s);
  void beat(const std::string& worker, const std::string& device);
  void leave(const std::string& worker);
  /// Ends the leases of workers that were not heard of for so long.
  void end_leases(double lease_s);
  /// Takes what is next for a device, "" for any. A device takes one job at a time, except simt, which has no clock.
  std::optional<Lease> take(const std::string& worker, const std::string& device, double lease_s);
  bool holds(const Lease& lease);
  void enter(const Lease& lease, judge::Stage stage);
  /// False, and nothing is stored, where the lease has ended.
  bool finish(const Lease& lease, const judge::Judgement& judgement);
  /// The job waits again.
  void give_back(const Lease& lease);
  /// The judge itself has failed at it, and why.
  void complain(const Lease& lease, const std::string& why);
  /// How often the judge itself has failed at a job.
  int64_t failures(int64_t job);
  /// Whether somebody was heard of who takes jobs for the device.
  bool has_worker(const std::string& device, double lease_s);
  /// Jobs that wait or run on a device, "" for any.
  int64_t unfinished(const std::string& device);

 private:
  Durations durations(std::map<std::pair<std::string, std::string>, UsualStages>& usual);

  Database database_;
};

/// Whether a worker for `device` may take a job for `wanted`: "" takes all, "cuda:1" takes what is for "cuda", too.
bool device_fits(const std::string& device, const std::string& wanted);

}  // namespace convlab::classroom
