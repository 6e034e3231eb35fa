#include "app/class/member.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/fingerprint.h"
#include "convlab/classroom/answers.h"
#include "convlab/classroom/intake.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/spool.h"
#include "convlab/classroom/standings.h"

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
    throw bad_input("$HOME is not set: there would be kept what tells you from others");
  return fs::path(home) / ".config/convlab";
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
  const std::string made = classroom::random_hex(classroom::kSecretBytes);
  const mode_t before = ::umask(077);
  write_file(path, made);
  ::umask(before);
  return made;
}

int64_t Member::submit(const std::string& file, const std::string& assignment, const std::string& as) {
  const classroom::AssignmentSettings& chosen = settings_.assignment(assignment);
  if (!as.empty()) {
    if (!is_owner()) throw bad_input("--as: only the class's owner may hand in for others");
    classroom::require_student_name(as);
  }
  classroom::SpoolEntry entry{.assignment = chosen.name, .as = as, .file = fs::path(file).filename().string()};
  classroom::require_file_name(entry.file);
  entry.source = read_text(file, classroom::kMostSourceBytes);
  // The owner finds his answers in the database.
  entry.secret = as.empty() ? secret() : classroom::random_hex(classroom::kSecretBytes);
  Submission submission{.student = {.name = as.empty() ? classroom::name_of_user(::geteuid()) : as},
                        .assignment = chosen.name,
                        .device = chosen.device,
                        .file = entry.file,
                        .arrived_s = unix_seconds()};
  if (!is_owner()) submission.student.id = own_id();
  submission.number = classroom::write_entry(folder_.spool(), entry, queue().next_number);
  if (is_owner()) classroom::take_in(folder_, settings_, *store_);
  handed_in_ = submission;
  return submission.number;
}

classroom::QueueState Member::queue() {
  classroom::QueueState state = is_owner() ? store_->queue(settings_.lease_s) : classroom::published_queue(folder_);
  if (is_owner() || !handed_in_) return state;
  const auto is_it = [&](const QueuedJob& job) { return job.submission == handed_in_->number; };
  const bool known = state.next_number > handed_in_->number || std::ranges::any_of(state.waiting, is_it);
  if (!known) {
    state.waiting.push_back({.submission = handed_in_->number,
                             .student = handed_in_->student.id,
                             .arrived_s = handed_in_->arrived_s,
                             .assignment = handed_in_->assignment,
                             .device = handed_in_->device});
  }
  return state;
}

std::vector<Seen> Member::submissions(const classroom::Which& which) {
  if (is_owner()) classroom::take_in(folder_, settings_, *store_);
  std::vector<Submission> all =
      is_owner() ? store_->submissions(which) : classroom::published_submissions(folder_, secret());
  if (!is_owner() && handed_in_ && std::ranges::find(all, handed_in_->number, &Submission::number) == all.end()) {
    all.push_back(*handed_in_);
  }
  const classroom::QueueState state = queue();
  const std::vector<classroom::Turn> turns =
      classroom::turns(state.waiting, state.running, state.durations, state.workers);
  std::vector<Seen> seen;
  for (Submission& each : all) {
    if (which.number && each.number != *which.number) continue;
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
  std::error_code error;
  if (!is_owner() && fs::exists(folder_.spool() / fmt::format("{}.json", number), error)) {
    throw bad_input("submission {} is in the spool; nobody has taken it in yet", number);
  }
  throw bad_input("there is no submission {}{}", number,
                  is_owner() ? "" : " of yours; 'convlab class history' lists yours");
}

std::vector<classroom::RankingEntry> Member::ranking(const classroom::AssignmentSettings& assignment) {
  if (!is_owner()) return classroom::published_ranking(folder_, assignment.name);
  return classroom::standings(folder_, settings_, *store_, assignment, classroom::Shown::as_settings_say);
}

int64_t Member::own_id() {
  const std::vector<Submission> own =
      is_owner() ? store_->submissions({}) : classroom::published_submissions(folder_, secret());
  const std::string name = classroom::name_of_user(::geteuid());
  for (const Submission& each : own) {
    if (!is_owner() || each.student.name == name) return each.student.id;
  }
  return 0;
}

bool Member::has_worker(const std::string& device) {
  return std::ranges::any_of(queue().workers,
                             [&](const auto& each) { return classroom::device_fits(each.first, device); });
}

}  // namespace convlab::app
