// Judges the jobs of a class one after another.

#include "convlab/classroom/class_worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/class_settings.h"
#include "convlab/classroom/intake.h"
#include "convlab/classroom/job.h"
#include "convlab/classroom/secrets.h"

namespace convlab::classroom {
namespace {

constexpr double kShortPause_s = 0.02, kLongPause_s = 0.5;
constexpr int64_t kMostFailures = 3;

void sleep_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Sends the worker's heartbeats.
class Heart {
 public:
  Heart(Store& store, std::string device, double lease_s)
      : store_(store), device_(std::move(device)), pause_s_(lease_s / 5) {
    store_.beat(name_, device_);
  }
  ~Heart() {
    try {
      store_.leave(name_);
    } catch (const Error&) {  // then the lease expires
    }
  }
  Heart(const Heart&) = delete;
  Heart& operator=(const Heart&) = delete;

  const std::string& name() const { return name_; }

  void beat() {
    if (seconds_since(last_) < pause_s_) return;
    store_.beat(name_, device_);
    last_ = Clock::now();
  }

 private:
  Store& store_;
  std::string name_ = random_hex(8), device_;
  double pause_s_;
  Clock::time_point last_ = Clock::now();
};

class Worker {
 public:
  Worker(const Folder& folder, const WorkOptions& options)
      : folder_(folder),
        options_(options),
        settings_(read_settings(folder)),
        store_(folder.database()),
        heart_(store_, options.device, settings_.lease_s) {}

  void run() {
    double pause_s = kShortPause_s;
    publish_rankings(folder_, settings_, store_);  // with the current settings
    for (;;) {
      settings_ = read_settings(folder_);
      heart_.beat();
      store_.end_leases(settings_.lease_s);
      take_in(folder_, settings_, store_, most_intake_s());
      if (const auto lease = store_.take(heart_.name(), options_.device, settings_.lease_s)) {
        pause_s = kShortPause_s;
        judge_one(*lease);
      } else if (options_.until_empty && store_.unfinished(options_.device) == 0) {
        return;
      } else {
        sleep_s(std::min(pause_s, settings_.lease_s / 5));
        pause_s = std::min(2 * pause_s, kLongPause_s);
      }
    }
  }

 private:
  void judge_one(const Lease& lease) {
    const Submission& submission = lease.submission;
    options_.tell(fmt::format("{}: {} by {} for {} on {}", submission.number, submission.file, submission.student.name,
                              submission.assignment, submission.device));
    publish(folder_, settings_, store_, {submission.student.id});
    try {
      write_job(folder_, settings_, lease);
      const std::optional<JudgeRun::End> end = await(lease);
      if (!end) return options_.tell(fmt::format("{}: another worker took over the job", submission.number));
      settle(lease, *end);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::unavailable) {
        store_.give_back(lease);
        throw;
      }
      fail(lease, error.what());
    }
    remove_job(folder_, lease);
    publish(folder_, settings_, store_, {submission.student.id});
    publish_rankings(folder_, settings_, store_);
  }

  /// Waits for the judge. Returns nullopt if the lease has ended; then the judge is killed.
  std::optional<JudgeRun::End> await(const Lease& lease) {
    const std::unique_ptr<JudgeRun> judge = options_.start(lease);
    const Clock::time_point began = Clock::now();
    judge::Stage stage = judge::Stage::queued;
    double pause_s = kShortPause_s;
    for (;;) {
      if (std::optional<JudgeRun::End> end = judge->end()) return end;
      heart_.beat();
      // The job is done when its verdict is stored, not when the judge reports it.
      if (const auto now = stage_of_job(folder_, lease); now && *now != stage && *now != judge::Stage::done) {
        stage = *now;
        store_.enter(lease, stage);
        publish(folder_, settings_, store_, {lease.submission.student.id});
      }
      if (!store_.holds(lease)) return std::nullopt;
      take_in_meanwhile();
      if (seconds_since(began) > limit_s(lease))
        return JudgeRun::End{.status = -1, .complaint = "the judge did not finish in time"};
      sleep_s(pause_s);
      pause_s = std::min(1.5 * pause_s, std::min(kLongPause_s, settings_.lease_s / 5));
    }
  }

  /// Well below the lease, so that heartbeats are not late.
  double most_intake_s() const { return std::min(1.0, settings_.lease_s / 5); }

  /// Processes the spool while a job runs, so that students see their numbers. Errors here do not affect the job.
  void take_in_meanwhile() {
    if (seconds_since(last_intake_) < kLongPause_s) return;
    std::string failure;
    try {
      take_in(folder_, settings_, store_, most_intake_s());
    } catch (const Error& error) {
      failure = error.what();
    }
    if (!failure.empty() && failure != last_failure_) {
      options_.tell(fmt::format("cannot read new submissions: {}", failure));
    }
    last_failure_ = failure;
    last_intake_ = Clock::now();
  }

  /// The judge enforces the limit of each stage itself. This limit is for a judge that hangs.
  double limit_s(const Lease& lease) const {
    const judge::JudgeLimits& limits = settings_.assignment(lease.submission.assignment).limits;
    return 60 + 2 * (limits.compile_s + limits.record_s + limits.verify_s + limits.timing_s);
  }

  void settle(const Lease& lease, const JudgeRun::End& end) {
    const std::optional<judge::Judgement> judgement = judgement_of_job(folder_, lease);
    if (!judgement && end.status == static_cast<int>(ErrorKind::unavailable)) {
      throw unavailable("{}; the job is queued again", last_line(end.complaint));
    }
    if (!judgement) return fail(lease, fmt::format("status {}: {}", end.status, last_line(end.complaint)));
    store(lease, *judgement);
  }

  /// Handles a failure of the judge itself: the job is retried. The cause is only for the class owner, because it may
  /// reveal secrets.
  void fail(const Lease& lease, const std::string& why) {
    options_.tell(fmt::format("{}: the judge failed ({})", lease.submission.number, why));
    store_.complain(lease, why);
    if (store_.failures(lease.job) < kMostFailures) return store_.give_back(lease);
    store(lease, {.verdict = judge::Verdict::refused,
                  .failed_at = stage_of_job(folder_, lease).value_or(judge::Stage::queued),
                  .reason = fmt::format("the judge failed {} times", kMostFailures),
                  .what_to_do = "tell your teacher, who can see the cause and queue it again"});
  }

  void store(const Lease& lease, const judge::Judgement& judgement) {
    const int64_t number = lease.submission.number;
    const bool stored = store_.finish(lease, judgement);
    options_.tell(stored ? fmt::format("{}: {}{}{}", number, name_of(judgement.verdict),
                                       judgement.reason.empty() ? "" : ": ", judgement.reason)
                         : fmt::format("{}: another worker took over the job", number));
  }

  static std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return printable(text.substr(text.rfind('\n') + 1));
  }

  const Folder& folder_;
  const WorkOptions& options_;
  Settings settings_;
  Store store_;
  Heart heart_;
  Clock::time_point last_intake_ = Clock::now();
  std::string last_failure_;  ///< of processing the spool
};

}  // namespace

void work(const Folder& folder, const WorkOptions& options) { Worker(folder, options).run(); }

}  // namespace convlab::classroom
