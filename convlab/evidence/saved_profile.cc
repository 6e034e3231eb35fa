// Reads profiles from JSON.

#include "convlab/evidence/saved_profile.h"

#include <cmath>

#include "convlab/measure/json_members.h"

namespace convlab {
namespace {

int64_t nanoseconds(const JsonMembers& from, const char* name) {
  constexpr double kMost = 1e9;  // seconds
  double seconds = 0;
  from.read(name, seconds);
  if (!(seconds >= 0 && seconds <= kMost)) {
    throw bad_input("{}: '{}' must be a time between 0 and 1e9 s", from.place(), name);
  }
  return std::llround(seconds * 1e9);
}

std::vector<TotalsRow> rows_from(const JsonMembers& from, const char* name) {
  std::vector<TotalsRow> rows;
  from.objects(name, [&](const JsonMembers& entry) {
    TotalsRow row{.total_ns = nanoseconds(entry, "time_s"),
                  .min_ns = nanoseconds(entry, "min_s"),
                  .max_ns = nanoseconds(entry, "max_s")};
    entry.read("name", row.name);
    entry.read("share", row.share);
    entry.read("calls", row.calls);
    entry.objects("parts", [&](const JsonMembers& part) {
      std::string layer;
      part.read("name", layer);
      row.parts_ns[layer] = nanoseconds(part, "time_s");
    });
    rows.push_back(std::move(row));
  });
  return rows;
}

}  // namespace

SavedProfile saved_profile_from_json(const JsonMembers& from) {
  SavedProfile profile{.source = from.place()};
  from.read("command", profile.command);
  from.read("model", profile.model);
  from.read("images", profile.images);
  from.read("device", profile.device);
  from.read("device_name", profile.device_name);
  const JsonMembers summary = from.object("summary"), startup = from.object("startup");
  profile.summary.activities = rows_from(summary, "activities");
  profile.summary.calls = rows_from(summary, "calls");
  startup.objects("parts", [&](const JsonMembers& entry) {
    BillLine line;
    entry.read("name", line.name);
    entry.read("s", line.seconds);
    entry.read("remedy", line.remedy);
    profile.bill.push_back(std::move(line));
  });
  BillLine rest{.name = "other", .remedy = ""};
  startup.read("unattributed_s", rest.seconds);
  profile.bill.push_back(std::move(rest));
  from.object("profiling").read("overhead", profile.overhead);
  profile.counted = from.has("utilisation");
  return profile;
}

std::string SavedProfile::forced_kernel() const {
  constexpr std::string_view kOption = "--kernel ";
  const size_t at = command.find(kOption);
  if (at == std::string::npos) return "";
  const size_t begin = at + kOption.size();
  return command.substr(begin, command.find(' ', begin) - begin);
}

double SavedProfile::wall_s() const {
  double sum = 0;
  for (const BillLine& line : bill) sum += line.seconds;
  return sum;
}

}  // namespace convlab
