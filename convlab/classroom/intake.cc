// Moves submissions from the spool into the database.

#include "convlab/classroom/intake.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/spool.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

constexpr double kHour = 3600, kDay = 24 * kHour;
constexpr int64_t kMostRefused = 20,
                  kMostMisfits = 20;  // per student or user and day; more leave no trace

judge::Judgement refusal(std::string reason, std::string what_to_do) {
  return {.verdict = judge::Verdict::refused,
          .failed_at = judge::Stage::queued,
          .reason = std::move(reason),
          .what_to_do = std::move(what_to_do)};
}

/// Returns a refusal if a submission must not be queued.
std::optional<judge::Judgement> refused(const Settings& settings, Store& store, const Submission& submission) {
  const auto found = std::ranges::find(settings.assignments, submission.assignment, &AssignmentSettings::name);
  if (found == settings.assignments.end()) {
    return refusal(fmt::format("the class has no assignment '{}'", submission.assignment),
                   "class.toml lists the assignments");
  }
  if (found->deadline_s && submission.arrived_s > *found->deadline_s) {
    return refusal(fmt::format("late: arrived at {}, the deadline was {}", time_text(submission.arrived_s),
                               time_text(*found->deadline_s)),
                   "ask your teacher for an extension, then submit again; the file was not kept");
  }
  const int64_t sent = store.sent_since(submission.student.id, submission.arrived_s - kHour);
  if (sent >= settings.per_hour) {
    return refusal(fmt::format("too many submissions: {} within an hour, the limit is {}", sent, settings.per_hour),
                   "test the file on your machine with 'convlab verify' and submit again later; the file was not kept");
  }
  return std::nullopt;
}

/// Returns why the sender may not claim what the entry claims, or "".
std::string forgery(Store& store, const Arrival& arrival) {
  const SpoolEntry& entry = *arrival.entry;
  if (!entry.as.empty()) {
    return arrival.uid == ::geteuid() ? "" : "'as' is reserved for the class owner, but the file is from another user";
  }
  const std::optional<Student> other = store.student_by_secret(entry.secret);
  return other && other->name != name_of_user(arrival.uid) ? "the secret belongs to another student" : "";
}

Student student_of(Store& store, const Arrival& arrival) {
  const SpoolEntry& entry = *arrival.entry;
  Student student = store.student(entry.as.empty() ? name_of_user(arrival.uid) : entry.as);
  const std::string secret = entry.as.empty() ? entry.secret : student.secret;
  if (secret.empty() || secret != student.secret) {
    student.secret = secret.empty() ? random_hex(kSecretBytes) : secret;
    store.set_secret(student.id, student.secret);
  }
  return student;
}

void keep_file(const Folder& folder, int64_t number, const SpoolEntry& entry) {
  const fs::path path = folder.file(number, entry.file);
  std::error_code error;
  fs::remove_all(path.parent_path(), error);  // left by a process that was killed before it stored the number
  fs::create_directories(path.parent_path(), error);
  write_file(path, entry.source);
}

/// Removes an arrival from the spool. The note is written first, so that the sender always finds one of the two.
void set_aside(const Folder& folder, Store& store, const Arrival& arrival, const std::string& reason) {
  Transaction transaction(store.database());
  std::error_code error;
  if (!fs::exists(fs::symlink_status(arrival.path, error))) return;  // another process was faster
  // The owner's files come from students through the web page, which has its own limit.
  const bool is_owners = arrival.uid == ::geteuid();
  if (is_owners || store.misfits_since(arrival.uid, arrival.arrived_s - kDay) < kMostMisfits) {
    store.add_misfit({printable(arrival.path.filename().string()), arrival.uid, reason, arrival.arrived_s});
    if (!arrival.receipt.empty()) {
      write_file(folder.note(arrival.receipt), reason + "\n");
      fs::permissions(folder.note(arrival.receipt), fs::perms(0644));  // whatever the umask
    }
  }
  fs::remove(arrival.path, error);
  transaction.commit();
}

/// Returns the student's number, or nullopt if the submission must be set aside.
std::optional<int64_t> accept(const Folder& folder, const Settings& settings, Store& store, const Arrival& arrival) {
  const SpoolEntry& entry = *arrival.entry;
  Transaction transaction(store.database());
  const auto assignment = std::ranges::find(settings.assignments, entry.assignment, &AssignmentSettings::name);
  Submission submission{.receipt = arrival.receipt,
                        .student = student_of(store, arrival),
                        .assignment = printable(entry.assignment),
                        .device = assignment == settings.assignments.end() ? "" : assignment->device,
                        .file = entry.file,
                        .arrived_s = arrival.arrived_s};
  if (store.knows(arrival.receipt)) return submission.student.id;  // another process was faster
  submission.number = store.next_number();
  submission.judgement = refused(settings, store, submission);
  const bool is_refused = submission.judgement.has_value();
  if (is_refused && store.refused_since(submission.student.id, arrival.arrived_s - kDay) >= kMostRefused) {
    return std::nullopt;
  }
  if (!is_refused) keep_file(folder, submission.number, entry);
  store.add(submission);
  transaction.commit();
  return submission.student.id;
}

class Intake {
 public:
  Intake(const Folder& folder, const Settings& settings, Store& store)
      : folder_(folder), settings_(settings), store_(store) {}

  void take(const fs::path& path) {
    const std::optional<Arrival> arrival = read_arrival(path);
    if (!arrival) return;
    const std::string misfit = arrival->entry ? forgery(store_, *arrival) : arrival->misfit;
    if (!misfit.empty()) return set_aside(folder_, store_, *arrival, misfit);
    if (const auto student = accept(folder_, settings_, store_, *arrival)) {
      students_.insert(*student);
      taken_.push_back(path);
    } else {
      set_aside(folder_, store_, *arrival,
                fmt::format("{} submissions were already refused today; further ones are not kept", kMostRefused));
    }
  }

  /// Removes files from the spool only after their senders can read the answers.
  void publish() {
    if (students_.empty()) return;
    classroom::publish(folder_, settings_, store_, {students_.begin(), students_.end()});
    std::error_code error;
    for (const fs::path& each : taken_) fs::remove(each, error);
  }

 private:
  const Folder& folder_;
  const Settings& settings_;
  Store& store_;
  std::set<int64_t> students_;
  std::vector<fs::path> taken_;
};

/// Moves submissions beyond the hourly limit behind everybody else's. The owner's files are exempt, because they come
/// from many students.
void put_floods_last(std::vector<Arrival>& arrivals, int64_t per_hour) {
  std::map<uid_t, int64_t> sent;
  std::vector<std::pair<int64_t, Arrival>> ordered;
  for (Arrival& each : arrivals) {
    const int64_t hour = each.uid == ::geteuid() ? 0 : sent[each.uid]++ / per_hour;
    ordered.emplace_back(hour, std::move(each));
  }
  std::ranges::stable_sort(ordered, {}, &std::pair<int64_t, Arrival>::first);
  for (size_t i = 0; i < ordered.size(); ++i) arrivals[i] = std::move(ordered[i].second);
}

/// Removes notes older than a day: their senders have read them or never will.
void sweep_notes(const Folder& folder, double before_s) {
  for (const fs::directory_entry& each : fs::directory_iterator(folder.answers())) {
    struct stat status {};
    if (!folder.is_note(each.path()) || ::lstat(each.path().c_str(), &status) != 0) continue;
    if (static_cast<double>(status.st_mtime) < before_s) ::unlink(each.path().c_str());
  }
}

}  // namespace

void take_in(const Folder& folder, const Settings& settings, Store& store, double most_s) {
  const Clock::time_point begun = Clock::now();
  std::vector<Arrival> arrivals = list_spool(folder.spool());
  if (arrivals.empty()) return;
  put_floods_last(arrivals, settings.per_hour);
  Intake intake(folder, settings, store);
  for (const Arrival& each : arrivals) {
    intake.take(each.path);
    if (seconds_since(begun) > most_s) break;
  }
  intake.publish();
  sweep_spool(folder.spool());
  sweep_notes(folder, unix_seconds() - kDay);
}

void take_in_one(const Folder& folder, const Settings& settings, Store& store, const std::string& receipt) {
  Intake intake(folder, settings, store);
  intake.take(entry_path(folder.spool(), receipt));
  intake.publish();
}

std::optional<std::string> why_set_aside(const Folder& folder, const std::string& receipt) {
  std::error_code error;
  if (!fs::exists(folder.note(receipt), error)) return std::nullopt;
  constexpr int64_t kMostNoteBytes = 4096;
  std::string text = read_text(folder.note(receipt), kMostNoteBytes);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void forget_set_aside(const Folder& folder, Store& store) {
  store.forget_misfits();
  sweep_notes(folder, unix_seconds() + kDay);
}

}  // namespace convlab::classroom
