// Ranks the submissions of an assignment.

#include "convlab/classroom/ranking.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace convlab::classroom {
namespace {

auto order(const Passed& each) {
  const double ratio = each.bounds ? each.bounds->ratio : std::numeric_limits<double>::infinity();
  return std::tuple(each.math_order, ratio, each.submission);
}

bool overlap(const std::optional<RatioBounds>& leader, const std::optional<RatioBounds>& other) {
  if (!leader || !other) return !leader && !other;
  return other->low <= leader->high;
}

}  // namespace

std::vector<RankingEntry> ranking(std::vector<Passed> passed, const PointsRule& rule) {
  std::ranges::sort(passed, {}, order);
  std::vector<RankingEntry> entries;
  std::map<int64_t, bool> seen;
  const Passed* leader = nullptr;
  int64_t rank = 0, in_class = 0;
  for (const Passed& each : passed) {
    if (std::exchange(seen[each.student], true)) continue;
    const bool new_class = leader == nullptr || leader->math_order != each.math_order;
    in_class = new_class ? 1 : in_class + 1;
    if (new_class || !overlap(leader->bounds, each.bounds)) {
      leader = &each;
      rank = in_class;
    }
    entries.push_back({.rank = rank, .best = each});
  }
  std::vector<Standing> standings;
  for (const RankingEntry& each : entries) {
    standings.push_back({each.best.bounds ? std::optional(each.best.bounds->ratio) : std::nullopt, each.rank});
  }
  const std::vector<double> points = points_of(rule, standings);
  for (size_t i = 0; i < entries.size(); ++i) entries[i].points = points[i];
  return entries;
}

}  // namespace convlab::classroom
