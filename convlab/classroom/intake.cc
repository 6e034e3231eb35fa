#include "convlab/classroom/intake.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/classroom/answers.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/spool.h"

namespace convlab::classroom {
namespace {

namespace fs = std::filesystem;

constexpr double kHour = 3600;

judge::Judgement refusal(std::string reason, std::string what_to_do) {
  return {.verdict = judge::Verdict::refused,
          .failed_at = judge::Stage::queued,
          .reason = std::move(reason),
          .what_to_do = std::move(what_to_do)};
}

/// Why a submission is not even queued.
std::optional<judge::Judgement> refused(const Settings& settings, Store& store, const Submission& submission) {
  const auto found = std::ranges::find(settings.assignments, submission.assignment, &AssignmentSettings::name);
  if (found == settings.assignments.end()) {
    return refusal(fmt::format("the class has no assignment '{}'", submission.assignment), "look into class.toml");
  }
  if (found->deadline_s && submission.arrived_s > *found->deadline_s) {
    return refusal(fmt::format("late: it arrived at {}, and the deadline was {}", time_text(submission.arrived_s),
                               time_text(*found->deadline_s)),
                   "ask your teacher");
  }
  const int64_t sent = store.sent_since(submission.student.id, submission.arrived_s - kHour);
  if (sent >= settings.per_hour) {
    return refusal(fmt::format("too often: {} submissions within an hour; {} are taken", sent, settings.per_hour),
                   "try a file on your own machine with 'convlab verify', and come back later");
  }
  return std::nullopt;
}

/// Why its student may not say what the entry says; "" if he may.
std::string forgery(Store& store, const Arrival& arrival) {
  const SpoolEntry& entry = *arrival.entry;
  if (!entry.as.empty()) {
    return arrival.uid == ::geteuid() ? "" : "'as' is for the class's owner, and this is from another user";
  }
  const std::optional<Student> other = store.student_by_secret(entry.secret);
  return other && other->name != name_of_user(arrival.uid) ? "its secret is another student's" : "";
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
  fs::create_directories(path.parent_path(), error);
  write_file(path, entry.source);
}

void set_aside(const Folder& folder, Store& store, const Arrival& arrival, const std::string& reason) {
  Transaction transaction(store.database());
  const fs::path from = folder.spool() / arrival.name;
  fs::path to = folder.aside() / arrival.name;
  std::error_code error;
  if (fs::exists(fs::symlink_status(to, error))) to += "." + random_hex(8);
  fs::rename(from, to, error);
  // Somebody else's folder cannot be moved, and not removed while it is full: then it stays, and is looked at again.
  if (error && !fs::remove(from, error)) return;
  store.add_misfit(arrival.number, {printable(arrival.name), reason, arrival.arrived_s});
  transaction.commit();
}

/// Its student's number.
int64_t take_one(const Folder& folder, const Settings& settings, Store& store, const Arrival& arrival) {
  const SpoolEntry& entry = *arrival.entry;
  Transaction transaction(store.database());
  if (store.has(arrival.number)) return 0;  // another process was faster
  const auto assignment = std::ranges::find(settings.assignments, entry.assignment, &AssignmentSettings::name);
  Submission submission{.number = arrival.number,
                        .student = student_of(store, arrival),
                        .assignment = printable(entry.assignment),
                        .device = assignment == settings.assignments.end() ? "" : assignment->device,
                        .file = entry.file,
                        .arrived_s = arrival.arrived_s};
  submission.judgement = refused(settings, store, submission);
  keep_file(folder, arrival.number, entry);
  store.add(submission);
  transaction.commit();
  return submission.student.id;
}

}  // namespace

void take_in(const Folder& folder, const Settings& settings, Store& store) {
  const auto is_known = [&](int64_t number) { return store.has(number); };
  std::set<int64_t> students;
  const std::vector<Arrival> arrivals = read_spool(folder.spool(), store.next_number(), is_known);
  for (const Arrival& each : arrivals) {
    if (const std::string misfit = each.entry ? forgery(store, each) : each.misfit; !misfit.empty()) {
      set_aside(folder, store, each, misfit);
    } else if (const int64_t student = take_one(folder, settings, store, each); student != 0) {
      students.insert(student);
    }
  }
  if (arrivals.empty()) return;
  sweep_spool(folder.spool(), is_known);
  publish(folder, settings, store, {students.begin(), students.end()});
}

}  // namespace convlab::classroom
