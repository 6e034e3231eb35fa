// Reads and writes class.toml.

#include "convlab/classroom/class_settings.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <limits>
#include <set>

#include "convlab/base/file.h"
#include "convlab/base/text.h"
#include "convlab/classroom/pack.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/storage/toml_table.h"

namespace convlab::classroom {
namespace {

constexpr double kSecondsPerDay = 86400;
constexpr double kMostPoints = 1e6;
constexpr int64_t kMebibyte = 1 << 20;

bool has_clock(const std::string& device) { return device != "simt"; }

bool is_device(const std::string& device) {
  if (device == "simt" || device == "cpu" || device == "cuda") return true;
  const std::string gpu = "cuda:";
  return device.size() > gpu.size() && device.starts_with(gpu) &&
         std::all_of(device.begin() + static_cast<std::ptrdiff_t>(gpu.size()), device.end(),
                     [](char each) { return each >= '0' && each <= '9'; });
}

bool is_plain(const std::string& name) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name[0] != '.' && name.find_first_not_of(kPlain) == std::string::npos;
}

void read_limits(const TomlTable& from, judge::JudgeLimits& limits) {
  from.require_only({"compile_s", "record_s", "verify_s", "timing_s", "memory_mib", "output_kib", "processes"});
  from.read("compile_s", limits.compile_s, 1, kSecondsPerDay);
  from.read("record_s", limits.record_s, 1, kSecondsPerDay);
  from.read("verify_s", limits.verify_s, 1, kSecondsPerDay);
  from.read("timing_s", limits.timing_s, 1, kSecondsPerDay);
  from.read("processes", limits.processes, 1, 1 << 15);
  constexpr int64_t kKibibyte = 1 << 10;
  int64_t memory_mib = limits.memory_bytes / kMebibyte, output_kib = limits.output_bytes / kKibibyte;
  from.read("memory_mib", memory_mib, 64, 1 << 24);
  from.read("output_kib", output_kib, 1, 1 << 14);
  limits.memory_bytes = memory_mib * kMebibyte;
  limits.output_bytes = output_kib * kKibibyte;
}

void read_points(const TomlTable& from, const std::string& device, PointsRule& points) {
  from.require_only({"formula", "most", "least", "full", "zero", "n"});
  from.read_choice("formula", points.formula, {Formula::passed, Formula::linear, Formula::deviations, Formula::top});
  from.read("most", points.most, 0, kMostPoints);
  from.read("least", points.least, 0, points.most);
  from.read("full", points.full, -kMostPoints, kMostPoints);
  from.read("zero", points.zero, -kMostPoints, kMostPoints);
  from.read("n", points.n, 1, 1'000'000);
  if (points.formula != Formula::passed && !has_clock(device)) {
    throw from.error("formula", fmt::format("'{}' needs measured times, but {} does not measure time; use 'passed'",
                                            name_of(points.formula), device));
  }
  if (points.formula == Formula::linear && points.full >= points.zero) {
    throw from.error("full", "must be less than 'zero' for 'linear'");
  }
  if (points.formula == Formula::deviations && points.full <= points.zero) {
    throw from.error("full", "must be greater than 'zero' for 'deviations'");
  }
}

AssignmentSettings read_assignment(const TomlTable& from) {
  from.require_only({"name", "pack", "deadline", "device", "images", "limits", "points"});
  AssignmentSettings result;
  from.read("pack", result.pack);
  if (result.pack.empty()) throw from.error("pack", "required key is missing");
  result.name = result.pack;
  from.read("name", result.name);
  if (!is_plain(result.name))
    throw from.error("name", "must have only letters, digits, '.', '-' and '_', and must not begin with '.'");
  from.read_time("deadline", result.deadline_s);
  from.read("device", result.device);
  if (!is_device(result.device)) {
    throw from.error("device", fmt::format("expected cpu, simt, cuda or cuda:N, got '{}'", printable(result.device)));
  }
  result.images = usual_images(result.device);
  from.read("images", result.images, 1, 1'000'000);
  result.limits = usual_limits(result.device);
  if (const auto limits = from.table("limits")) read_limits(*limits, result.limits);
  if (const auto points = from.table("points")) read_points(*points, result.device, result.points);
  return result;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char each : printable(text))
    result += each == '"' || each == '\\' ? std::string("\\") + each : std::string(1, each);
  return result + "\"";
}

std::string assignment_text(const AssignmentSettings& each) {
  std::string text = fmt::format("\n[[assignment]]\nname = {}\npack = {}\n", quoted(each.name), quoted(each.pack));
  text += each.deadline_s ? fmt::format("deadline = {}\n", local_time_text(*each.deadline_s))
                          : "# deadline = 2026-12-01T23:59:00+01:00    # later submissions are refused\n";
  text += fmt::format("device = {}    # cpu, simt, cuda, cuda:1\nimages = {}    # per layer\n", quoted(each.device),
                      each.images);
  const judge::JudgeLimits& limits = each.limits;
  text += fmt::format(
      "\n[assignment.limits]\ncompile_s = {}\nrecord_s = {}\nverify_s = {}\ntiming_s = {}\nmemory_mib = {}\n"
      "output_kib = {}\nprocesses = {}\n",
      limits.compile_s, limits.record_s, limits.verify_s, limits.timing_s, limits.memory_bytes / kMebibyte,
      limits.output_bytes >> 10, limits.processes);
  const PointsRule& points = each.points;
  text += fmt::format(
      "\n[assignment.points]    # passed; linear: full, zero are ratios; deviations: full, zero are deviations "
      "faster than the median; top: n ranks\nformula = {}\nmost = {}\nleast = {}\n",
      quoted(std::string(name_of(points.formula))), points.most, points.least);
  const bool line = points.formula == Formula::linear || points.formula == Formula::deviations;
  if (line) text += fmt::format("full = {}\nzero = {}\n", points.full, points.zero);
  if (points.formula == Formula::top) text += fmt::format("n = {}\n", points.n);
  return text;
}

}  // namespace

int64_t usual_images(const std::string& device) {
  constexpr int64_t kSimt = 2, kCpu = 100, kGpu = 1000;
  if (device == "simt") return kSimt;
  return device == "cpu" ? kCpu : kGpu;
}

judge::JudgeLimits usual_limits(const std::string& device) {
  judge::JudgeLimits limits;
  constexpr double kOnGpu = 60;
  if (device.starts_with("cuda")) limits.verify_s = limits.timing_s = kOnGpu;
  return limits;
}

std::string time_text(double seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(std::floor(seconds))));
}

static std::tm local_time(double seconds) {
  const auto whole = static_cast<std::time_t>(std::floor(seconds));
  std::tm fields{};
  ::localtime_r(&whole, &fields);
  return fields;
}

std::string local_time_text(double seconds) {
  const std::tm fields = local_time(seconds);
  const int64_t minutes = std::abs(fields.tm_gmtoff) / 60;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}{}{:02}:{:02}", fields, fields.tm_gmtoff < 0 ? '-' : '+', minutes / 60,
                     minutes % 60);
}

std::string local_minutes_text(double seconds) {
  const std::tm fields = local_time(seconds);
  return fmt::format("{:%Y-%m-%d %H:%M} {}", fields, fields.tm_zone);
}

const AssignmentSettings& Settings::assignment(const std::string& assignment_name) const {
  if (assignment_name.empty() && assignments.size() == 1) return assignments.front();
  std::vector<std::string> names;
  for (const AssignmentSettings& each : assignments) {
    if (each.name == assignment_name) return each;
    names.push_back(each.name);
  }
  if (assignment_name.empty()) throw bad_input("--assignment is required; the class has {}", fmt::join(names, ", "));
  throw bad_input("--assignment: unknown assignment '{}'{}; the class has {}", printable(assignment_name),
                  did_you_mean(assignment_name, names), fmt::join(names, ", "));
}

Settings parse_settings(const std::string& text, const std::string& place) {
  const TomlTable from = TomlTable::parse(text, place);
  from.require_only({"name", "aliases", "trust", "per_hour", "lease_s", "slurm", "assignment"});
  Settings settings;
  from.read("name", settings.name);
  from.read("aliases", settings.aliases);
  from.read_choice("trust", settings.trust, {judge::Trust::jails, judge::Trust::students});
  from.read("per_hour", settings.per_hour, 1, 1'000'000);
  from.read("lease_s", settings.lease_s, 0.1, kSecondsPerDay);
  if (const auto slurm = from.table("slurm")) {
    slurm->require_only({"partition", "gpus"});
    slurm->read("partition", settings.slurm.partition);
    slurm->read("gpus", settings.slurm.gpus);
    for (const std::string& value : {settings.slurm.partition, settings.slurm.gpus}) {
      if (!value.empty() && value.find_first_of(" \t\n'\"") != std::string::npos) {
        throw from.error("slurm", "partition and gpus must not have spaces or quotes");
      }
    }
  }
  std::set<std::string> names;
  for (const TomlTable& each : from.tables("assignment")) {
    settings.assignments.push_back(read_assignment(each));
    const std::string& name = settings.assignments.back().name;
    if (!names.insert(name).second) throw each.error("name", fmt::format("duplicate assignment name '{}'", name));
  }
  if (settings.assignments.empty()) throw from.error("assignment", "a class must have at least one [[assignment]]");
  return settings;
}

Settings read_settings(const Folder& folder) {
  return parse_settings(read_text(folder.settings(), kMebibyte), folder.settings().string());
}

std::string settings_text(const Settings& settings) {
  std::string text = fmt::format(
      "# Settings of the class. Every command reads this file; see docs/guide/class.md.\n\nname = {}\n"
      "aliases = {}    # true: the ranking shows made-up names; false: students' names\n"
      "trust = {}    # jails: judge only in jails; students: judge without a jail if none is available\n"
      "per_hour = {}    # submissions per student per hour\n"
      "lease_s = {}    # a job starts again if its worker is silent for this many seconds\n",
      quoted(settings.name), settings.aliases, quoted(std::string(name_of(settings.trust))), settings.per_hour,
      settings.lease_s);
  if (!settings.slurm.partition.empty() || !settings.slurm.gpus.empty()) {
    text += fmt::format("\n[slurm]\npartition = {}\ngpus = {}\n", quoted(settings.slurm.partition),
                        quoted(settings.slurm.gpus));
  }
  for (const AssignmentSettings& each : settings.assignments) text += assignment_text(each);
  return text;
}

judge::Assignment assignment_of(const Folder& folder, const Settings& settings, const AssignmentSettings& assignment) {
  const Pack pack = load_pack(assignment.pack);
  const Secret secret = read_secret(folder.secret(assignment.name));
  judge::Assignment result{.name = assignment.name,
                           .layers = pack.layers,
                           .secret = secret.shapes,
                           .libraries_allowed = pack.libraries_allowed,
                           .reference = assignment.device == "cpu" ? pack.reference_on_cpu : pack.reference,
                           .limits = assignment.limits,
                           .trust = settings.trust};
  for (ConvProblem& each : result.layers) each.n = assignment.images;
  return result;
}

}  // namespace convlab::classroom
