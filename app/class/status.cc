// convlab class status and history: where submissions are, and what became of them.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "app/class/commands.h"
#include "app/class/member.h"
#include "app/class/telling.h"

namespace convlab::app {
namespace {

struct StatusOptions {
  std::string folder, assignment;
  int64_t number = 0;
};

/// Those that are not judged yet, and the last one of each student for each assignment.
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

void show(const StatusOptions& options, bool all, Output& output) {
  Member member(options.folder);
  std::vector<Seen> seen;
  if (options.number > 0) {
    seen.push_back(member.submission(options.number));
    output.print("{}", details_text(seen.front()));
  } else {
    seen = member.submissions({.assignment = options.assignment});
    if (!all) seen = current(std::move(seen));
    for (const Seen& each : seen) {
      output.print("{:>5}  {:<20} {:<8} {}\n", each.submission.number, each.submission.student.name,
                   each.submission.assignment, state_text(each));
    }
    if (seen.empty()) output.print("There are no submissions yet\n");
  }
  if (member.is_owner() && options.number == 0) {
    for (const classroom::Misfit& each : member.store().misfits()) {
      note("{} was in the spool and is set aside: {}", each.name, each.reason);
    }
  }
  write_json(output, seen);
}

Action declare(CLI::App& options, bool all) {
  auto chosen = std::make_shared<StatusOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "the class's folder"));
  add_int(options, "NUMBER", chosen->number, 1, INT64_MAX, "one submission, with its stages and what they said");
  add_text(options, "--assignment", chosen->assignment, "A", "those for one assignment (default: all)");
  return [chosen, all](Output& output) { show(*chosen, all, output); };
}

}  // namespace

Action declare_class_status(CLI::App& options) { return declare(options, false); }
Action declare_class_history(CLI::App& options) { return declare(options, true); }

}  // namespace convlab::app
