// convlab class submit: submits a file and, with --wait, waits for its verdict.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/class/commands.h"
#include "app/class/member.h"
#include "app/class/telling.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/classroom/students.h"

namespace convlab::app {
namespace {

struct SubmitOptions {
  std::string folder, file, assignment, as;
  bool wait = false;
};

void pause_s(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Waits at most 2 s for a worker to assign a number; for the owner, this process assigns it.
Seen wait_for_number(Member& member, const std::string& receipt) {
  constexpr double kMost_s = 2;
  const Clock::time_point begun = Clock::now();
  for (;;) {
    Seen seen = member.submission(receipt);
    if (seen.submission.number > 0 || seconds_since(begun) > kMost_s) return seen;
    pause_s(0.05);
  }
}

/// Prints its stages to standard error until it is judged.
Seen wait_for_verdict(Member& member, const std::string& receipt) {
  std::string shown;
  for (;;) {
    Seen seen = member.submission(receipt);
    if (seen.submission.is_done()) return seen;
    std::string now(name_of(seen.submission.stage));
    if (seen.turn) now += fmt::format(", place {}", seen.turn->place);
    if (now != shown) fmt::print(messages_stream(), "convlab: {}: {}\n", name_of(seen), state_text(seen));
    shown = now;
    pause_s(0.3);
  }
}

void note_pending(const SubmitOptions& options, Member& member, const Seen& seen) {
  if (member.is_owner()) {
    if (member.store().has_worker(seen.submission.device, member.settings().lease_s)) return;
    note("no worker is running; start one with 'convlab class work {}'", options.folder);
  } else if (seen.submission.number == 0) {
    note(
        "submission received; its arrival time counts. When a worker has read it, 'convlab class status {} {}' shows "
        "its number",
        options.folder, seen.submission.receipt);
  }
}

/// Whether --as names a student whom the class does not have yet.
bool is_new_name(Member& member, const std::string& name) {
  if (name.empty() || !member.is_owner()) return false;
  const std::vector<classroom::Student> students = member.store().students();
  return std::ranges::find(students, name, &classroom::Student::name) == students.end();
}

void submit(const SubmitOptions& options, Output& output) {
  Member member(options.folder);
  const bool is_new = is_new_name(member, options.as);  // the submission creates the student
  const std::string nearest = is_new ? classroom::closest_student(member.store(), options.as) : "";
  const std::string receipt = member.submit(options.file, options.assignment, options.as);
  if (is_new) {  // the name may be misspelled
    note("'{}' is new to the class{}", printable(options.as),
         nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
  }
  Seen seen = wait_for_number(member, receipt);
  if (!seen.submission.is_done()) {
    output.print("Submission {}: {}\n", name_of(seen), state_text(seen));
    note_pending(options, member, seen);
    if (options.wait) seen = wait_for_verdict(member, receipt);
  }
  if (seen.submission.is_done()) output.print("{}", details_text(seen));
  write_json(output, {seen});
  require_passed(seen);
}

}  // namespace

Action declare_class_submit(CLI::App& options) {
  auto chosen = std::make_shared<SubmitOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder"));
  require(add_text(options, "FILE", chosen->file, "FILE", "kernel file, at most 1 MiB"));
  add_text(options, "--assignment", chosen->assignment, "A", "assignment that FILE is for (default: the only one)");
  add_text(options, "--as", chosen->as, "NAME", "submit for this student (class owner only)");
  add_flag(options, "--wait", chosen->wait,
           "follow the stages and print the verdict; exit status 0 for PASSED, 1 for any other verdict");
  return [chosen](Output& output) { submit(*chosen, output); };
}

}  // namespace convlab::app
