// convlab class new: creates the folder of a class.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/class/commands.h"
#include "convlab/base/clock.h"
#include "convlab/base/error.h"
#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/classroom/create.h"
#include "convlab/classroom/pack.h"
#include "convlab/classroom/storage/toml_table.h"

namespace convlab::app {
namespace {

using classroom::Formula;

struct NewClass {
  std::string folder, deadline, formula = "passed", trust = "jails";
  std::vector<std::string> packs;
  bool show_names = false;
  classroom::Settings settings;
  classroom::AssignmentSettings each;  ///< what all assignments have in common
};

/// Parses a time as in class.toml, with or without seconds.
double parse_deadline(std::string text) {
  constexpr size_t kToMinutes = std::string_view("2026-12-01T23:59").size();
  if (text.size() >= kToMinutes && (text.size() == kToMinutes || text[kToMinutes] != ':')) {
    text.insert(kToMinutes, ":00");
  }
  std::optional<double> seconds;
  try {
    classroom::TomlTable::parse("deadline = " + text, "--deadline").read_time("deadline", seconds);
  } catch (const Error&) {
    throw bad_input(
        "--deadline: expected '2026-12-01 23:59' (this machine's time zone) or 2026-12-01T23:59+01:00, got '{}'",
        printable(text));
  }
  return *seconds;
}

void make_class(NewClass& chosen, Output& output) {
  classroom::Settings& settings = chosen.settings;
  settings.aliases = !chosen.show_names;
  settings.trust = chosen.trust == "jails" ? judge::Trust::jails : judge::Trust::students;
  if (settings.name.empty()) {
    settings.name = std::filesystem::absolute(chosen.folder).lexically_normal().filename().string();
  }
  classroom::AssignmentSettings& common = chosen.each;
  for (const Formula each : {Formula::passed, Formula::linear, Formula::deviations, Formula::top}) {
    if (name_of(each) == chosen.formula) common.points.formula = each;
  }
  if (!chosen.deadline.empty()) common.deadline_s = parse_deadline(chosen.deadline);
  if (common.images == 0) common.images = classroom::usual_images(common.device);
  common.limits = classroom::usual_limits(common.device);
  for (const std::string& pack : chosen.packs) {
    settings.assignments.push_back(common);
    settings.assignments.back().name = settings.assignments.back().pack = pack;
  }
  classroom::create_class(chosen.folder, settings);
  output.print("Created class {} in {} with {}\n", settings.name, chosen.folder, fmt::join(chosen.packs, ", "));
  if (common.deadline_s) {
    const std::string local = classroom::local_time_text(*common.deadline_s);
    const bool is_utc = local.ends_with("+00:00");
    output.print("Deadline: {}{}\n", local,
                 is_utc ? "" : fmt::format(" ({})", classroom::time_text(*common.deadline_s)));
    if (*common.deadline_s < unix_seconds()) {
      note("this deadline has passed, so submissions are rejected as late; class.toml has each assignment's deadline");
    }
  }
  output.print("Problem texts and starter files for students: {0}/public. Your settings: {0}/class.toml\n",
               chosen.folder);
  output.print("Next, start a worker: convlab class work {}\n", chosen.folder);
}

}  // namespace

Action declare_class_new(CLI::App& options) {
  auto chosen = std::make_shared<NewClass>();
  classroom::AssignmentSettings& each = chosen->each;
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder to create; must be empty if it exists"));
  require(add_texts(options, "--assignment", chosen->packs, 1, kAnyNumber, "PACK",
                    "one or more assignments: fa17, fa18, sp19, fa19, sp25"));
  add_text(options, "--name", chosen->settings.name, "TEXT", "class name (default: the folder's name)");
  add_text(options, "--deadline", chosen->deadline, "TIME",
           "deadline of all assignments: '2026-12-01 23:59' (this machine's time zone) or 2026-12-01T23:59+01:00 "
           "(default: none)");
  add_text(options, "--device", each.device, "D",
           "device that runs submissions: cpu, simt, cuda or cuda:N (default: simt)");
  add_int(options, "-n,--images", each.images, 1, 1'000'000,
          "images per layer (default: 2 on simt, 100 on cpu, 1000 on cuda)");
  add_choice(options, "--points", chosen->formula, {"passed", "linear", "deviations", "top"},
             "points formula; passed: maximum points for all who pass; linear: by ratio to the reference time; "
             "deviations: by standard deviations faster than the median; top: by rank (default: passed)");
  add_real(options, "--most", each.points.most, 0, 1e6, "maximum points (default: 100)");
  add_real(options, "--least", each.points.least, 0, 1e6, "minimum points of a submission that passed (default: 0)");
  add_real(options, "--full", each.points.full, -1e6, 1e6,
           "linear, deviations: value that earns the maximum points (default: 0)");
  add_real(options, "--zero", each.points.zero, -1e6, 1e6,
           "linear, deviations: value that earns the minimum points (default: 0)");
  add_int(options, "--top", each.points.n, 1, 1'000'000,
          "top: ranks that earn more than the minimum points (default: 10)");
  add_int(options, "--per-hour", chosen->settings.per_hour, 1, 1'000'000,
          "submissions allowed per student per hour (default: 60)");
  add_flag(options, "--show-names", chosen->show_names, "show students' names in the ranking (default: made-up names)");
  add_choice(options, "--trust", chosen->trust, {"jails", "students"},
             "jails: judge only in jails; students: judge without a jail if none is available (default: jails)");
  return [chosen](Output& output) { make_class(*chosen, output); };
}

}  // namespace convlab::app
