// convlab class status and history: show submissions with their stages and verdicts.

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "app/class/commands.h"
#include "app/class/member.h"
#include "app/class/telling.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/classroom/intake.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/spool.h"
#include "convlab/classroom/students.h"

namespace convlab::app {
namespace {

struct StatusOptions {
  std::string folder, one, assignment, student;
  bool set_aside = false, forget_set_aside = false;
};

/// Returns the submissions that are not judged yet, and the last one of each student for each assignment.
std::vector<Seen> current(std::vector<Seen> all) {
  std::set<std::pair<std::string, std::string>> students;
  std::vector<Seen> kept;
  for (auto each = all.rbegin(); each != all.rend(); ++each) {
    const classroom::Submission& submission = each->submission;
    const bool last = students.emplace(submission.student.name, submission.assignment).second;
    if (last || submission.stage != judge::Stage::done) kept.insert(kept.begin(), std::move(*each));
  }
  return kept;
}

Seen submission_of(Member& member, const std::string& text) {
  if (classroom::is_secret(text)) return member.submission(text);
  return member.submission(parse_int(text, "NUMBER", 1, INT64_MAX));
}

/// Returns the first line of a text, shortened to fit a table.
std::string in_a_line(const std::string& text) {
  constexpr size_t kMost = 100;
  std::string line = text_before(text, '\n');
  if (line.size() == text.size() && line.size() <= kMost) return line;
  line.resize(std::min(line.size(), kMost));
  return printable(line) + " ...";
}

/// Throws Error(bad_input) unless the name is a student whose submissions the user can see.
void require_visible(Member& member, const std::string& student) {
  if (member.is_owner()) {
    classroom::require_student(member.store(), student);
  } else if (student != classroom::name_of_user(::geteuid())) {
    throw bad_input("--student: only the class owner can see other students' submissions");
  }
}

std::vector<Seen> list(Member& member, const StatusOptions& options, bool all, Output& output) {
  if (!options.assignment.empty()) member.settings().assignment(options.assignment);
  if (!options.student.empty()) require_visible(member, options.student);
  std::vector<Seen> seen = member.submissions({.assignment = options.assignment});
  if (!options.student.empty()) {
    std::erase_if(seen, [&](const Seen& each) { return each.submission.student.name != options.student; });
  }
  if (!all) seen = current(std::move(seen));
  for (const Seen& each : seen) {
    output.print("{:>5}  {:<20} {:<8} {}\n", each.submission.number, each.submission.student.name,
                 each.submission.assignment, in_a_line(state_text(each)));
  }
  if (seen.empty()) output.print("No submissions yet\n");
  return seen;
}

/// Reports rejected files: their number, or, with --set-aside, each one.
void note_set_aside(Member& member, const StatusOptions& options) {
  const std::vector<classroom::Misfit> misfits = member.store().misfits();
  for (const classroom::Misfit& each : misfits) {
    if (!options.set_aside) break;
    note("{} from {}, {}: {}", each.name, classroom::name_of_user(static_cast<uid_t>(each.uid)),
         classroom::time_text(each.at_s), each.reason);
  }
  if (misfits.empty() || options.set_aside) return;
  const classroom::Misfit& last = misfits.back();
  note("rejected files, which are not valid submissions: {}; the latest is {} from {}: {}", misfits.size(), last.name,
       classroom::name_of_user(static_cast<uid_t>(last.uid)), last.reason);
  note("list them with --set-aside, clear the list with --forget-set-aside");
}

void show(const StatusOptions& options, bool all, Output& output) {
  Member member(options.folder);
  if (options.set_aside || options.forget_set_aside) member.folder().require_owned("status --set-aside");
  if (options.forget_set_aside) classroom::forget_set_aside(member.folder(), member.store());
  if (!options.one.empty()) {
    const Seen seen = submission_of(member, options.one);
    output.print("{}", details_text(seen));
    return write_json(output, {seen});
  }
  const std::vector<Seen> seen = list(member, options, all, output);
  if (member.is_owner()) note_set_aside(member, options);
  write_json(output, seen);
}

Action declare(CLI::App& options, bool all) {
  auto chosen = std::make_shared<StatusOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder"));
  add_text(options, "NUMBER", chosen->one, "NUMBER", "one submission, by number or receipt, with its stage logs");
  add_text(options, "--assignment", chosen->assignment, "A", "only submissions for this assignment (default: all)");
  add_text(options, "--student", chosen->student, "NAME", "only submissions of this student (default: all)");
  if (!all) {
    add_flag(options, "--set-aside", chosen->set_aside, "list rejected files, which are not valid submissions");
    add_flag(options, "--forget-set-aside", chosen->forget_set_aside, "clear the list of rejected files");
  }
  return [chosen, all](Output& output) { show(*chosen, all, output); };
}

}  // namespace

Action declare_class_status(CLI::App& options) { return declare(options, false); }
Action declare_class_history(CLI::App& options) { return declare(options, true); }

}  // namespace convlab::app
