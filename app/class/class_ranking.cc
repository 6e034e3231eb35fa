// convlab class ranking: shows the best submission of each student.

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "app/class/commands.h"
#include "app/class/member.h"

namespace convlab::app {
namespace {

struct RankingOptions {
  std::string folder, assignment;
};

std::string ratio_text(const classroom::Passed& best) {
  if (!best.bounds) return best.counters.empty() ? "correct" : best.counters;
  return fmt::format("{:.4g} ({:.4g} to {:.4g})", best.bounds->ratio, best.bounds->low, best.bounds->high);
}

Json entry_json(const classroom::RankingEntry& entry) {
  const classroom::Passed& best = entry.best;
  Json json{{"rank", entry.rank}, {"name", best.name}, {"class", best.math},
            {"ratio", nullptr},   {"low", nullptr},    {"high", nullptr}};
  if (best.bounds) json.update({{"ratio", best.bounds->ratio}, {"low", best.bounds->low}, {"high", best.bounds->high}});
  json["points"] = entry.points;
  json["submission"] = best.submission;
  if (!best.counters.empty()) json["counters"] = best.counters;
  return json;
}

void show_ranking(const RankingOptions& options, Output& output) {
  Member member(options.folder);
  const classroom::AssignmentSettings& assignment = member.settings().assignment(options.assignment);
  const std::set<int64_t> own = member.own_numbers();
  Json entries = Json::array();
  std::string math;
  for (const classroom::RankingEntry& each : member.ranking(assignment)) {
    if (each.best.math != math) output.print("{}\n", each.best.math);
    math = each.best.math;
    output.print("{:>5}  {:<24} {:>7.2f} points  {}{}\n", each.rank, each.best.name, each.points, ratio_text(each.best),
                 own.contains(each.best.submission) ? "  (you)" : "");
    entries.push_back(entry_json(each));
  }
  if (entries.empty()) output.print("No submission has passed {} yet\n", assignment.name);
  output.json({{"assignment", assignment.name}, {"entries", std::move(entries)}});
}

}  // namespace

Action declare_class_ranking(CLI::App& options) {
  auto chosen = std::make_shared<RankingOptions>();
  require(add_text(options, "DIR", chosen->folder, "DIR", "class folder"));
  add_text(options, "--assignment", chosen->assignment, "A", "assignment to rank (default: the only one)");
  return [chosen](Output& output) { show_ranking(*chosen, output); };
}

}  // namespace convlab::app
