// convlab class submit: hand in a file, and, with --wait, see it judged.

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "app/class/commands.h"
#include "app/class/member.h"
#include "app/class/telling.h"
#include "convlab/base/error.h"

namespace convlab::app {
namespace {

struct SubmitOptions {
  std::string folder, file, assignment, as;
  bool wait = false;
};

/// Follows its stages on standard error until it is judged.
Seen wait_for_verdict(Member& member, int64_t number) {
  std::string told;
  for (;;) {
    Seen seen = member.submission(number);
    if (seen.submission.stage == judge::Stage::done) return seen;
    std::string now(name_of(seen.submission.stage));
    if (seen.turn) now += fmt::format(", place {}", seen.turn->place);
    if (now != told) fmt::print(messages_stream(), "convlab: {}: {}\n", number, state_text(seen));
    told = now;
    constexpr auto kPause = std::chrono::milliseconds(300);
    std::this_thread::sleep_for(kPause);
  }
}

void submit(const SubmitOptions& options, Output& output) {
  Member member(options.folder);
  const int64_t number = member.submit(options.file, options.assignment, options.as);
  Seen seen = member.submission(number);
  const bool judged = seen.submission.stage == judge::Stage::done;
  if (!judged) {
    output.print("Submission {}: {}\n", number, state_text(seen));
    if (!member.has_worker(seen.submission.device)) {
      note("nobody is at work: 'convlab class work {}' starts a worker", options.folder);
    }
  }
  if (options.wait && !judged) seen = wait_for_verdict(member, number);
  if (seen.submission.stage == judge::Stage::done) output.print("{}", details_text(seen));
  write_json(output, {seen});
  require_passed(seen);
}

}  // namespace

Action declare_class_submit(CLI::App& options) {
  auto chosen = std::make_shared<SubmitOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "the class's folder"));
  require(add_text(options, "FILE", chosen->file, "FILE", "the kernel file, at most 1 MiB"));
  add_text(options, "--assignment", chosen->assignment, "A", "for which it is (default: the only one)");
  add_text(options, "--as", chosen->as, "NAME", "hand in for a student; for the class's owner");
  add_flag(options, "--wait", chosen->wait,
           "follow the stages, and end with the verdict: 0 if it is PASSED, otherwise 1");
  return [chosen](Output& output) { submit(*chosen, output); };
}

}  // namespace convlab::app
