// Stores the students, submissions, jobs and results of a class in SQLite.

#include "convlab/classroom/store.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/json.h"
#include "convlab/classroom/bounds.h"

namespace convlab::classroom {
namespace {

constexpr const char* kTables = R"(
CREATE TABLE students (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  secret TEXT UNIQUE
);
CREATE TABLE submissions (
  number INTEGER PRIMARY KEY,
  student INTEGER NOT NULL REFERENCES students,
  assignment TEXT NOT NULL,
  device TEXT NOT NULL,
  file TEXT NOT NULL,
  arrived_s REAL NOT NULL
);
CREATE INDEX submissions_of_students ON submissions (student, arrived_s);
CREATE TABLE workers (
  id TEXT PRIMARY KEY,
  device TEXT NOT NULL,
  boot TEXT NOT NULL,   -- the machine's start: the monotonic clock counts from there
  beat_s REAL NOT NULL
);
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY,
  submission INTEGER NOT NULL REFERENCES submissions,
  round INTEGER NOT NULL,               -- 0, and more for each time it is graded again
  attempt INTEGER NOT NULL DEFAULT 0,   -- leases so far
  failures INTEGER NOT NULL DEFAULT 0,  -- of the judge itself
  done INTEGER NOT NULL DEFAULT 0,
  worker TEXT REFERENCES workers,       -- who has the lease
  device TEXT,                          -- on which it runs
  stage TEXT NOT NULL DEFAULT 'queued',
  stage_since_s REAL NOT NULL DEFAULT 0,
  UNIQUE (submission, round)
);
CREATE INDEX unfinished_jobs ON jobs (done) WHERE done = 0;
CREATE TABLE results (
  job INTEGER PRIMARY KEY REFERENCES jobs,
  judgement TEXT NOT NULL
);
CREATE TABLE stages (
  job INTEGER NOT NULL REFERENCES jobs,
  position INTEGER NOT NULL,
  stage TEXT NOT NULL,
  seconds REAL NOT NULL,
  PRIMARY KEY (job, position)
);
CREATE TABLE misfits (
  number INTEGER,
  name TEXT NOT NULL,
  reason TEXT NOT NULL,
  at_s REAL NOT NULL
);
)";

constexpr const char* kTokens = R"(
CREATE TABLE tokens (
  student INTEGER PRIMARY KEY REFERENCES students,
  hash TEXT NOT NULL UNIQUE,
  made_s REAL NOT NULL
);
)";

constexpr const char* kReceipts = R"(
ALTER TABLE submissions ADD COLUMN receipt TEXT;
CREATE UNIQUE INDEX submissions_by_receipt ON submissions (receipt);
ALTER TABLE jobs ADD COLUMN complaint TEXT;  -- of the judge, where it failed
DROP TABLE misfits;
CREATE TABLE misfits (
  name TEXT NOT NULL,
  uid INTEGER NOT NULL,
  reason TEXT NOT NULL,
  at_s REAL NOT NULL
);
)";

constexpr const char* kDeleted = R"(
CREATE TABLE deleted (
  submission INTEGER PRIMARY KEY,  -- its number, and the last of its jobs: neither is used again
  job INTEGER NOT NULL
);
)";

/// Schema changes of each version. A database's version is the number of changes applied.
constexpr std::array kVersions{kTables, kTokens, kReceipts, kDeleted};

/// The id of the next job.
constexpr const char* kNextJob =
    "(SELECT 1 + max(coalesce((SELECT max(id) FROM jobs), 0), coalesce((SELECT max(job) FROM deleted), 0)))";

double monotonic_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

/// Returns an identifier of the machine's current boot.
std::string boot() {
  std::string text;
  if (FILE* file = std::fopen("/proc/sys/kernel/random/boot_id", "r")) {
    std::array<char, 64> bytes{};
    text = std::fgets(bytes.data(), bytes.size(), file) == nullptr ? "" : bytes.data();
    std::fclose(file);
  }
  return text;
}

judge::Stage stage_of(const std::string& name) {
  for (const judge::Stage each : {judge::Stage::compiling, judge::Stage::recording, judge::Stage::verifying,
                                  judge::Stage::timing, judge::Stage::done}) {
    if (name_of(each) == name) return each;
  }
  return judge::Stage::queued;
}

QueuedJob queued_job(const Rows& rows) {
  return {.job = rows.integer(0),
          .submission = rows.integer(1),
          .student = rows.integer(2),
          .arrived_s = rows.real(3),
          .assignment = rows.text(4),
          .device = rows.text(5)};
}

std::string text_of(const judge::Judgement& judgement) { return json_text(judge::to_json(bounded(judgement)), -1); }

/// Counts the rows selected by `from`, the text after FROM.
template <class... Values>
int64_t count_of(Database& database, const std::string& from, const Values&... values) {
  const auto rows = database.query("SELECT count(*) FROM " + from, values...);
  rows->next();
  return rows->integer(0);
}

}  // namespace

bool device_fits(const std::string& device, const std::string& wanted) {
  return device.empty() || device == wanted || (wanted == "cuda" && device.starts_with("cuda:"));
}

Store::Store(const std::filesystem::path& path, Access access) : database_(path, access) {
  constexpr auto kNewest = static_cast<int64_t>(kVersions.size());
  const auto version = [&] {
    const auto rows = database_.query("PRAGMA user_version");
    rows->next();
    return rows->integer(0);
  };
  if (version() == kNewest) return;
  if (access == Access::read_only) {
    throw bad_input("{}: database version is {}; this convlab reads version {}", path.string(), version(), kNewest);
  }
  Transaction transaction(database_);
  if (version() > kNewest) {
    throw bad_input("{}: created by a newer convlab (version {}; this one supports up to {}); use that one",
                    path.string(), version(), kNewest);
  }
  for (int64_t next = version(); next < kNewest; ++next) database_.script(kVersions[static_cast<size_t>(next)]);
  database_.script(fmt::format("PRAGMA user_version = {};", kNewest));
  transaction.commit();
}

Student Store::student(const std::string& name) {
  database_.run("INSERT OR IGNORE INTO students (name) VALUES (?)", name);
  const auto rows = database_.query("SELECT id, name, secret FROM students WHERE name = ?", name);
  rows->next();
  return {rows->integer(0), rows->text(1), rows->text(2)};
}

std::optional<Student> Store::student_by_secret(const std::string& secret) {
  const auto rows = database_.query("SELECT id, name, secret FROM students WHERE secret = ?", secret);
  if (!rows->next()) return std::nullopt;
  return Student{rows->integer(0), rows->text(1), rows->text(2)};
}

void Store::set_secret(int64_t student, const std::string& secret) {
  database_.run("UPDATE students SET secret = ? WHERE id = ?", secret, student);
}

std::vector<Student> Store::students() {
  std::vector<Student> all;
  const auto rows = database_.query("SELECT id, name, secret FROM students ORDER BY name");
  while (rows->next()) all.push_back({rows->integer(0), rows->text(1), rows->text(2)});
  return all;
}

bool Store::knows(const std::string& receipt) {
  return database_.query("SELECT 1 FROM submissions WHERE receipt = ?", receipt)->next();
}

int64_t Store::next_number() {
  const auto rows = database_.query(
      "SELECT coalesce(max(number), 0) + 1 FROM (SELECT number FROM submissions UNION SELECT submission FROM deleted)");
  rows->next();
  return rows->integer(0);
}

std::set<int64_t> Store::numbers_of(int64_t student) {
  std::set<int64_t> numbers;
  const auto rows = database_.query("SELECT number FROM submissions WHERE student = ?", student);
  while (rows->next()) numbers.insert(rows->integer(0));
  return numbers;
}

int64_t Store::arrived_since(int64_t student, double since_s) {
  return count_of(database_, "submissions WHERE student = ? AND arrived_s > ?", student, since_s);
}

int64_t Store::sent_since(int64_t student, double since_s) {
  return count_of(database_,
                  "submissions JOIN jobs ON submission = number AND round = 0"
                  " WHERE student = ? AND arrived_s > ? AND (done = 0 OR attempt > 0)",
                  student, since_s);
}

int64_t Store::refused_since(int64_t student, double since_s) {
  return count_of(database_,
                  "submissions JOIN jobs ON submission = number AND round = 0"
                  " WHERE student = ? AND arrived_s > ? AND done = 1 AND attempt = 0",
                  student, since_s);
}

void Store::add(const Submission& submission) {
  const std::optional<std::string> receipt =
      submission.receipt.empty() ? std::nullopt : std::optional(submission.receipt);
  database_.run(
      "INSERT INTO submissions (number, receipt, student, assignment, device, file, arrived_s)"
      " VALUES (?, ?, ?, ?, ?, ?, ?)",
      submission.number, receipt, submission.student.id, submission.assignment, submission.device, submission.file,
      submission.arrived_s);
  const int64_t done = submission.judgement ? 1 : 0;
  database_.run(fmt::format("INSERT INTO jobs (id, submission, round, done, stage) VALUES ({}, ?, 0, ?, ?)", kNextJob),
                submission.number, done, name_of(submission.judgement ? judge::Stage::done : judge::Stage::queued));
  if (submission.judgement) {
    database_.run("INSERT INTO results (job, judgement) VALUES (?, ?)", database_.last_id(),
                  text_of(*submission.judgement));
  }
}

void Store::add_misfit(const Misfit& misfit) {
  database_.run("INSERT INTO misfits (name, uid, reason, at_s) VALUES (?, ?, ?, ?)", misfit.name, misfit.uid,
                misfit.reason, misfit.at_s);
}

int64_t Store::misfits_since(int64_t uid, double since_s) {
  return count_of(database_, "misfits WHERE uid = ? AND at_s > ?", uid, since_s);
}

std::vector<Misfit> Store::misfits() {
  std::vector<Misfit> all;
  const auto rows = database_.query("SELECT name, uid, reason, at_s FROM misfits ORDER BY rowid");
  while (rows->next()) all.push_back({rows->text(0), rows->integer(1), rows->text(2), rows->real(3)});
  return all;
}

std::optional<Misfit> Store::misfit(const std::string& name) {
  const auto rows = database_.query("SELECT name, uid, reason, at_s FROM misfits WHERE name = ?", name);
  if (!rows->next()) return std::nullopt;
  return Misfit{rows->text(0), rows->integer(1), rows->text(2), rows->real(3)};
}

void Store::forget_misfits() { database_.run("DELETE FROM misfits"); }

std::vector<Submission> Store::submissions(const Which& which) {
  const auto if_any = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional(text); };
  std::vector<Submission> all;
  const std::string judgement = which.with_logs ? "judgement" : "json_set(judgement, '$.stages', json('[]'))";
  const auto rows = database_.query(
      "SELECT number, students.id, name, secret, assignment, submissions.device, file, arrived_s,"
      " (SELECT stage FROM jobs WHERE submission = number ORDER BY round DESC LIMIT 1),"
      " (SELECT " +
          judgement +
          " FROM results JOIN jobs ON job = id WHERE submission = number ORDER BY round DESC LIMIT 1), receipt,"
          " (SELECT complaint FROM jobs WHERE submission = number ORDER BY round DESC LIMIT 1)"
          " FROM submissions JOIN students ON student = students.id"
          " WHERE (?1 IS NULL OR number = ?1) AND (?2 IS NULL OR student = ?2) AND (?3 IS NULL OR assignment = ?3)"
          " AND (?4 IS NULL OR receipt = ?4) ORDER BY number DESC LIMIT ?5",
      which.number, which.student, if_any(which.assignment), if_any(which.receipt), which.newest);
  while (rows->next()) {
    Submission each{.number = rows->integer(0),
                    .receipt = rows->text(10),
                    .student = {rows->integer(1), rows->text(2), rows->text(3)},
                    .assignment = rows->text(4),
                    .device = rows->text(5),
                    .file = rows->text(6),
                    .arrived_s = rows->real(7),
                    .stage = stage_of(rows->text(8)),
                    .complaint = rows->text(11)};
    if (!rows->is_null(9)) {
      const std::string place = fmt::format("class.db, submission {}", each.number);
      each.judgement = judge::judgement_from(parse_json(rows->text(9), place), place);
    }
    all.push_back(std::move(each));
  }
  std::ranges::reverse(all);
  return all;
}

bool Store::judge_again(int64_t number) {
  return database_.run(
             fmt::format("INSERT INTO jobs (id, submission, round)"
                         " SELECT {}, ?1, max(round) + 1 FROM jobs WHERE submission = ?1 HAVING min(done) = 1",
                         kNextJob),
             number) > 0;
}

QueueState Store::queue(double lease_s) {
  QueueState state{.next_number = next_number()};
  std::map<std::pair<std::string, std::string>, UsualStages> usual;
  state.durations = durations(usual);
  const double now = monotonic_s();
  const auto rows = database_.query(
      "SELECT id, number, student, arrived_s, assignment, coalesce(jobs.device, submissions.device), worker, stage,"
      " stage_since_s FROM jobs JOIN submissions ON submission = number WHERE done = 0 ORDER BY number");
  while (rows->next()) {
    const QueuedJob job = queued_job(*rows);
    if (rows->is_null(6)) {
      state.waiting.push_back(job);
      continue;
    }
    const auto found = usual.find({job.assignment, job.device});
    const double left = found == usual.end() ? 0 : found->second.left_s(rows->text(7), now - rows->real(8));
    state.running.push_back({job, left});
  }
  const auto workers = database_.query(
      "SELECT device, count(*) FROM workers WHERE boot = ? AND beat_s > ? GROUP BY device", boot(), now - lease_s);
  while (workers->next()) state.workers[workers->text(0)] = static_cast<int>(workers->integer(1));
  return state;
}

/// Uses the last 50 jobs of each assignment and device.
Durations Store::durations(std::map<std::pair<std::string, std::string>, UsualStages>& usual) {
  std::map<std::pair<std::string, std::string>, std::vector<std::vector<StageTime>>> jobs;
  const auto rows = database_.query(
      "SELECT assignment, coalesce(jobs.device, submissions.device), id, stages.stage, seconds FROM"
      " (SELECT id AS recent FROM jobs WHERE done = 1 AND attempt > 0 ORDER BY id DESC LIMIT 200)"
      " JOIN jobs ON id = recent JOIN submissions ON submission = number JOIN stages ON job = id ORDER BY id DESC, "
      "position");
  constexpr size_t kMost = 50;
  int64_t last = 0;
  while (rows->next()) {
    std::vector<std::vector<StageTime>>& of = jobs[{rows->text(0), rows->text(1)}];
    if (rows->integer(2) != last) of.emplace_back();
    last = rows->integer(2);
    of.back().push_back({rows->text(3), rows->real(4)});
  }
  Durations seconds;
  for (auto& [key, each] : jobs) {
    each.resize(std::min(each.size(), kMost));
    const UsualStages& of = usual.emplace(key, UsualStages(each)).first->second;
    seconds[key] = of.job_s();
  }
  return seconds;
}

void Store::beat(const std::string& worker, const std::string& device) {
  database_.run(
      "INSERT INTO workers (id, device, boot, beat_s) VALUES (?, ?, ?, ?)"
      " ON CONFLICT (id) DO UPDATE SET boot = excluded.boot, beat_s = excluded.beat_s",
      worker, device, boot(), monotonic_s());
}

void Store::leave(const std::string& worker) {
  Transaction transaction(database_);
  database_.run("UPDATE jobs SET worker = NULL WHERE worker = ?", worker);
  database_.run("DELETE FROM workers WHERE id = ?", worker);
  transaction.commit();
}

void Store::end_leases(double lease_s) {
  // A query without a transaction needs no lock.
  const double since = monotonic_s() - lease_s;
  if (!database_.query("SELECT 1 FROM workers WHERE boot != ? OR beat_s < ?", boot(), since)->next()) return;
  Transaction transaction(database_);
  database_.run(
      "UPDATE jobs SET worker = NULL, device = NULL, stage = 'queued' WHERE done = 0 AND worker IN"
      " (SELECT id FROM workers WHERE boot != ? OR beat_s < ?)",
      boot(), since);
  database_.run("UPDATE jobs SET worker = NULL WHERE done = 1 AND worker IS NOT NULL");
  database_.run("DELETE FROM workers WHERE boot != ? OR beat_s < ?", boot(), since);
  transaction.commit();
}

std::optional<Lease> Store::take(const std::string& worker, const std::string& device, double lease_s) {
  if (unfinished(device) == 0) return std::nullopt;
  Transaction transaction(database_);
  beat(worker, device);  // another worker may have ended this one's lease
  const QueueState state = queue(lease_s);
  const auto place_of = [&](const QueuedJob& job) { return device.empty() ? job.device : device; };
  const auto is_free = [&](const std::string& place) {
    return place == "simt" ||
           std::ranges::none_of(state.running, [&](const RunningJob& each) { return each.job.device == place; });
  };
  const std::optional<size_t> next = next_job(state.waiting, state.running, [&](const QueuedJob& job) {
    return device_fits(device, job.device) && is_free(place_of(job));
  });
  if (!next) return std::nullopt;
  const QueuedJob& job = state.waiting[*next];
  Lease lease{.job = job.job, .worker = worker, .taken_s = monotonic_s()};
  database_.run(
      "UPDATE jobs SET worker = ?, device = ?, attempt = attempt + 1, stage = 'queued', stage_since_s = ? WHERE id = ?",
      worker, place_of(job), lease.taken_s, job.job);
  {
    const auto rows = database_.query("SELECT attempt FROM jobs WHERE id = ?", job.job);
    rows->next();
    lease.attempt = rows->integer(0);
  }
  lease.submission = submissions({.number = job.submission}).at(0);
  lease.submission.device = place_of(job);
  transaction.commit();
  return lease;
}

bool Store::holds(const Lease& lease) {
  return database_
      .query("SELECT 1 FROM jobs WHERE id = ? AND worker = ? AND attempt = ? AND done = 0", lease.job, lease.worker,
             lease.attempt)
      ->next();
}

void Store::enter(const Lease& lease, judge::Stage stage) {
  database_.run("UPDATE jobs SET stage = ?, stage_since_s = ? WHERE id = ? AND worker = ? AND attempt = ? AND done = 0",
                name_of(stage), monotonic_s(), lease.job, lease.worker, lease.attempt);
}

bool Store::finish(const Lease& lease, const judge::Judgement& judgement) {
  Transaction transaction(database_);
  if (!holds(lease)) return false;
  database_.run("INSERT INTO results (job, judgement) VALUES (?, ?)", lease.job, text_of(judgement));
  int64_t position = 0;
  double beside_s = monotonic_s() - lease.taken_s;  // time around the stages: processes, folders, waiting for Slurm
  const auto keep = [&](judge::Stage stage, double seconds) {
    database_.run("INSERT INTO stages (job, position, stage, seconds) VALUES (?, ?, ?, ?)", lease.job, position++,
                  name_of(stage), seconds);
  };
  for (const judge::StageLog& each : judgement.stages) beside_s -= each.seconds;
  keep(judge::Stage::queued, std::max(0.0, beside_s));
  for (const judge::StageLog& each : judgement.stages) keep(each.stage, each.seconds);
  database_.run("UPDATE jobs SET done = 1, stage = 'done', worker = NULL WHERE id = ?", lease.job);
  transaction.commit();
  return true;
}

void Store::give_back(const Lease& lease) {
  database_.run(
      "UPDATE jobs SET worker = NULL, device = NULL, stage = 'queued' WHERE id = ? AND worker = ? AND attempt = ?"
      " AND done = 0",
      lease.job, lease.worker, lease.attempt);
}

void Store::complain(const Lease& lease, const std::string& why) {
  database_.run(
      "UPDATE jobs SET failures = failures + 1, complaint = ? WHERE id = ? AND worker = ? AND attempt = ? AND done = 0",
      why, lease.job, lease.worker, lease.attempt);
}

int64_t Store::failures(int64_t job) {
  const auto rows = database_.query("SELECT failures FROM jobs WHERE id = ?", job);
  rows->next();
  return rows->integer(0);
}

bool Store::has_worker(const std::string& device, double lease_s) {
  const auto workers =
      database_.query("SELECT device FROM workers WHERE boot = ? AND beat_s > ?", boot(), monotonic_s() - lease_s);
  while (workers->next()) {
    if (device_fits(workers->text(0), device)) return true;
  }
  return false;
}

int64_t Store::unfinished(const std::string& device) {
  int64_t count = 0;
  const auto rows =
      database_.query("SELECT submissions.device FROM jobs JOIN submissions ON submission = number WHERE done = 0");
  while (rows->next()) count += device_fits(device, rows->text(0)) ? 1 : 0;
  return count;
}

}  // namespace convlab::classroom
