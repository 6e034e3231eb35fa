// Shows a class as its owner or a student sees it.

#include "app/class/member.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "app/results/output.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/fingerprint.h"
#include "convlab/classroom/class_answers.h"
#include "convlab/classroom/intake.h"
#include "convlab/classroom/pack.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/spool.h"
#include "convlab/classroom/standings.h"
#include "convlab/kernel_file/source.h"

namespace convlab::app {
namespace {

namespace fs = std::filesystem;
using classroom::QueuedJob;
using classroom::Submission;

fs::path configuration() {
  if (const char* folder = std::getenv("XDG_CONFIG_HOME"); folder != nullptr && *folder == '/') {
    return fs::path(folder) / "convlab";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/')
    throw bad_input("$HOME must be an absolute path; $HOME/.config/convlab stores the secret that identifies you");
  return fs::path(home) / ".config/convlab";
}

/// Prints a note if a course's file is submitted to an assignment that starts from another course's file.
void note_other_course(const KernelSource& source, const std::string& file,
                       const classroom::AssignmentSettings& assignment) {
  const classroom::Pack pack = classroom::load_pack(assignment.pack);
  const FileKind starter = read_kernel_source(pack.template_file).kind;
  if (source.kind == starter || !is_of_course(source.kind) || !is_of_course(starter)) return;
  note("{} has the entry points of {}, but the starter file of {}, {}, those of {}; is the assignment right?", file,
       name_of(source.kind), assignment.name, pack.file, name_of(starter));
}

}  // namespace

Member::Member(const std::string& root) : folder_(root), settings_(classroom::read_settings(folder_)) {
  if (!folder_.is_owned()) return;
  store_.emplace(folder_.database());
  store_->end_leases(settings_.lease_s);
  classroom::take_in(folder_, settings_, *store_);
}

std::string Member::secret() const {
  Fingerprint place;
  place.add(fs::canonical(folder_.root()).string());
  const fs::path path = configuration() / ("class-" + place.hex());
  std::error_code error;
  if (fs::exists(path, error)) return read_text(path, 2 * classroom::kSecretBytes);
  fs::create_directories(path.parent_path(), error);
  std::string made = classroom::random_hex(classroom::kSecretBytes);
  const mode_t before = ::umask(077);
  write_file(path, made);
  ::umask(before);
  return made;
}

std::string Member::submit(const std::string& file, const std::string& assignment, const std::string& as) {
  const classroom::AssignmentSettings& chosen = settings_.assignment(assignment);
  if (!as.empty()) {
    if (!is_owner()) throw bad_input("--as: only the class owner may submit for other students");
    classroom::require_student_name(as);
  }
  classroom::SpoolEntry entry{.assignment = chosen.name, .as = as, .file = fs::path(file).filename().string()};
  classroom::require_file_name(entry.file);
  entry.source = read_text(file, classroom::kMostSourceBytes);
  if (entry.source.empty()) throw bad_input("{}: the file is empty", file);
  // The judge would only reject a file without an entry point.
  note_other_course(parse_kernel_source(entry.source, file), entry.file, chosen);
  // With --as, the published answers are not read: the owner reads the database.
  entry.secret = as.empty() ? secret() : classroom::random_hex(classroom::kSecretBytes);
  handed_in_ = {.receipt = classroom::write_entry(folder_.spool(), entry),
                .student = {.name = as.empty() ? classroom::name_of_user(::geteuid()) : as},
                .assignment = chosen.name,
                .device = chosen.device,
                .file = entry.file,
                .arrived_s = unix_seconds()};
  return handed_in_->receipt;
}

classroom::QueueState Member::queue(const std::vector<Submission>& own) {
  if (is_owner()) return store_->queue(settings_.lease_s);
  classroom::QueueState state = classroom::published_queue(folder_);
  if (!handed_in_ || std::ranges::find(own, handed_in_->receipt, &Submission::receipt) != own.end()) return state;
  // Students' numbers change with each published queue: find this user's by the user's other submissions.
  QueuedJob mine{
      .arrived_s = handed_in_->arrived_s, .assignment = handed_in_->assignment, .device = handed_in_->device};
  const auto look = [&](const QueuedJob& job) {
    if (std::ranges::find(own, job.submission, &Submission::number) != own.end()) mine.student = job.student;
  };
  for (const QueuedJob& each : state.waiting) look(each);
  for (const classroom::RunningJob& each : state.running) look(each.job);
  state.waiting.push_back(mine);
  return state;
}

std::vector<Seen> Member::submissions(const classroom::Which& which) {
  if (is_owner()) classroom::take_in(folder_, settings_, *store_);
  std::vector<Submission> all =
      is_owner() ? store_->submissions(which) : classroom::published_submissions(folder_, secret());
  const classroom::QueueState state = queue(all);
  const std::vector<classroom::Turn> turns =
      classroom::turns(state.waiting, state.running, state.durations, state.workers);
  if (!is_owner() && handed_in_ && std::ranges::find(all, handed_in_->receipt, &Submission::receipt) == all.end()) {
    all.push_back(*handed_in_);
  }
  std::vector<Seen> seen;
  for (Submission& each : all) {
    if (which.number && each.number != *which.number) continue;
    if (!which.receipt.empty() && each.receipt != which.receipt) continue;
    if (!which.assignment.empty() && each.assignment != which.assignment) continue;
    seen.push_back({std::move(each), std::nullopt});
    const auto waits = std::ranges::find(state.waiting, seen.back().submission.number, &QueuedJob::submission);
    if (waits != state.waiting.end()) seen.back().turn = turns[static_cast<size_t>(waits - state.waiting.begin())];
  }
  return seen;
}

Seen Member::submission(int64_t number) {
  std::vector<Seen> found = submissions({.number = number});
  if (!found.empty()) return std::move(found.front());
  throw bad_input("submission {} does not exist{}", number,
                  is_owner() ? "" : " or is not yours; 'convlab class history' lists your submissions");
}

Seen Member::submission(const std::string& receipt) {
  if (is_owner()) classroom::take_in_one(folder_, settings_, *store_, receipt);
  std::error_code error;
  // Check this first: a submission is published before it leaves the spool.
  const bool waits = fs::exists(classroom::entry_path(folder_.spool(), receipt), error);
  std::vector<Seen> found = submissions({.receipt = receipt});
  if (!found.empty() && (waits || found.front().submission.number > 0)) return std::move(found.front());
  if (const auto why = classroom::why_set_aside(folder_, receipt)) {
    throw bad_input("{}: rejected and not kept: {}", receipt, *why);
  }
  if (waits) throw bad_input("{}: received; it gets its number when a worker runs", receipt);
  throw bad_input("{}: unknown receipt{}", receipt,
                  is_owner() ? "" : ", not your submission, or not kept because too many were refused today");
}

std::vector<classroom::RankingEntry> Member::ranking(const classroom::AssignmentSettings& assignment) {
  if (!is_owner()) return classroom::published_ranking(folder_, assignment.name);
  return classroom::standings(folder_, settings_, *store_, assignment, classroom::Shown::as_settings_say);
}

std::set<int64_t> Member::own_numbers() {
  const std::vector<Submission> all =
      is_owner() ? store_->submissions({.with_logs = false}) : classroom::published_submissions(folder_, secret());
  const std::string name = classroom::name_of_user(::geteuid());
  std::set<int64_t> own;
  for (const Submission& each : all) {
    if (each.student.name == name) own.insert(each.number);
  }
  return own;
}

}  // namespace convlab::app
