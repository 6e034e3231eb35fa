// Computes rankings and grades from the database.

#include "convlab/classroom/standings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "convlab/classroom/aliases.h"
#include "convlab/classroom/secrets.h"

namespace convlab::classroom {

std::string counters_text(const judge::Judgement& judgement) {
  if (judgement.counters.empty()) return "";
  judge::KernelCountsSummary sum;
  for (const judge::KernelCountsSummary& each : judgement.counters) {
    sum.flops += each.flops;
    sum.global_sectors += each.global_sectors;
    sum.least_sectors += each.least_sectors;
    sum.bank_conflicts += each.bank_conflicts;
  }
  constexpr double kMegabytes = 32e-6;  // of a sector
  return fmt::format("{:.3g} MFLOP, {:.3g} MB of global memory traffic ({:.3g} MB if coalesced), {} bank conflicts",
                     1e-6 * static_cast<double>(sum.flops), kMegabytes * static_cast<double>(sum.global_sectors),
                     kMegabytes * static_cast<double>(sum.least_sectors), sum.bank_conflicts);
}

std::string alias_of(const Folder& folder, int64_t student) {
  return alias_of(student, read_secret(folder.class_secret()).seed);
}

std::vector<RankingEntry> standings(const Folder& folder, const Settings& settings, Store& store,
                                    const AssignmentSettings& assignment, Shown shown) {
  const bool aliases = settings.aliases && shown == Shown::as_settings_say;
  const uint64_t seed = read_secret(folder.class_secret()).seed;
  std::vector<Passed> passed;
  for (const Submission& each : store.submissions({.assignment = assignment.name, .with_logs = false})) {
    if (!each.judgement || each.judgement->verdict != judge::Verdict::passed) continue;
    const auto& ratio = each.judgement->ratio;
    passed.push_back(
        {.submission = each.number,
         .student = each.student.id,
         .name = aliases ? alias_of(each.student.id, seed) : each.student.name,
         .is_made_up = aliases,
         .math = std::string(name_of(each.judgement->math)),
         .math_order = static_cast<int>(each.judgement->math),
         .bounds = ratio ? std::optional(RatioBounds{ratio->median, ratio->low, ratio->high}) : std::nullopt,
         .counters = counters_text(*each.judgement)});
  }
  return ranking(std::move(passed), assignment.points);
}

std::vector<Grade> grades(const Folder& folder, const Settings& settings, Store& store,
                          const AssignmentSettings& assignment) {
  std::map<int64_t, std::string> last_verdict;
  for (const Submission& each : store.submissions({.assignment = assignment.name, .with_logs = false})) {
    last_verdict[each.student.id] = each.judgement ? name_of(each.judgement->verdict) : "";
  }
  const std::vector<RankingEntry> entries = standings(folder, settings, store, assignment, Shown::by_name);
  std::vector<Grade> all;
  for (const Student& student : store.students()) {
    Grade grade{.name = student.name, .assignment = assignment.name, .verdict = last_verdict[student.id]};
    for (const RankingEntry& each : entries) {
      if (each.best.student != student.id) continue;
      grade.entry = each;
      grade.verdict = name_of(judge::Verdict::passed);
    }
    all.push_back(std::move(grade));
  }
  return all;
}

}  // namespace convlab::classroom
