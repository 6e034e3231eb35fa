// Renders the class page and the ranking of an assignment.

#include "convlab/classroom/web/board_page.h"

#include <fmt/format.h>

#include "convlab/report/html.h"

namespace convlab::classroom {
namespace {

std::string tile(std::string_view figure, std::string_view what) {
  return fmt::format("<div class=\"tile\"><strong>{}</strong><span>{}</span></div>\n", escaped(figure), escaped(what));
}

/// Returns a second line in a table cell, as HTML.
std::string below(const std::string& html) { return "<br><small>" + html + "</small>"; }

/// Returns the deadline as HTML.
std::string until(const AssignmentView& assignment) {
  if (!assignment.deadline_s) return "no deadline";
  return "due " + time_html(*assignment.deadline_s);
}

std::string files_html(const AssignmentView& assignment) {
  if (assignment.files.empty()) return "";
  std::string html = "<h2>Starter files</h2>\n<ul>\n";
  for (const std::string& each : assignment.files) {
    html += fmt::format("<li><a href=\"/public/{0}/{1}\">{1}</a></li>\n", escaped(assignment.name), escaped(each));
  }
  return html + "</ul>\n";
}

/// Few columns, so that they fit a phone.
Table ranking_table(const std::string& math, bool has_clock) {
  std::vector<std::string> headings{"Rank", "Name", "Points"};
  if (has_clock) headings.insert(headings.begin() + 2, "Ratio");
  return {math, std::move(headings)};
}

std::vector<Cell> ranking_row(const RankingEntry& entry, bool has_clock, bool is_own) {
  const Passed& best = entry.best;
  Cell who{.html = escaped(best.name), .kind = "who"};
  if (is_own) who.html += " <small>(you)</small>";
  if (!best.counters.empty()) who.html += below(escaped(best.counters));
  std::vector<Cell> cells{number_cell(std::to_string(entry.rank)), std::move(who),
                          number_cell(fmt::format("{:.2f}", entry.points))};
  if (has_clock) {
    Cell ratio = missing_cell();
    if (best.bounds) {
      ratio = number_cell(significant(best.bounds->ratio));
      ratio.html += below(fmt::format("{:.3g}–{:.3g}", best.bounds->low, best.bounds->high));
    }
    cells.insert(cells.begin() + 2, std::move(ratio));
  }
  if (is_own) {
    for (Cell& each : cells) each.kind += " own";
  }
  return cells;
}

std::string ranking_html(const std::vector<RankingEntry>& ranking, const std::set<int64_t>& own) {
  std::string html;
  for (size_t begin = 0, end = 0; begin < ranking.size(); begin = end) {
    const std::string& math = ranking[begin].best.math;
    bool has_clock = false;
    for (end = begin; end < ranking.size() && ranking[end].best.math == math; ++end) {
      has_clock = has_clock || ranking[end].best.bounds.has_value();
    }
    Table table = ranking_table(math, has_clock);
    for (size_t i = begin; i < end; ++i) {
      table.row(ranking_row(ranking[i], has_clock, own.contains(ranking[i].best.submission)));
    }
    html += table.html();
  }
  return html;
}

}  // namespace

std::string class_page(const Frame& frame, const std::vector<AssignmentView>& assignments) {
  std::string body;
  for (const AssignmentView& each : assignments) {
    body += fmt::format(
        "<article><h3><a href=\"/board/{0}\">{0}</a></h3>\n<p>On {1}, {2}. {3} passed, {4} waiting, {5} running.</p>"
        "</article>\n",
        escaped(each.name), escaped(each.device), until(each), each.ranking.size(), each.waiting, each.running);
  }
  return page(frame, "Assignments", body);
}

std::string board_page(const Frame& frame, const AssignmentView& assignment, const std::set<int64_t>& own) {
  std::string body = fmt::format("<p class=\"where\">On {}, {}</p>\n<div class=\"tiles\">\n",
                                 escaped(assignment.device), until(assignment));
  body += tile(std::to_string(assignment.ranking.size()),
               assignment.ranking.size() == 1 ? "student passed" : "students passed");
  body +=
      tile(std::to_string(assignment.waiting), assignment.waiting == 1 ? "submission waiting" : "submissions waiting");
  body +=
      tile(std::to_string(assignment.running), assignment.running == 1 ? "submission running" : "submissions running");
  body += "</div>\n";
  if (assignment.ranking.empty()) {
    body += "<p class=\"missing\">No submission has passed yet.</p>\n";
  } else {
    body += "<div class=\"fitted\">\n" + ranking_html(assignment.ranking, own) + "</div>\n";
    body +=
        assignment.ranking.front().best.bounds
            ? "<p class=\"where\">Ratio: time divided by the reference time, with its 95 % interval; lower is faster. "
              "Students whose intervals overlap share a rank.</p>\n"
            : "<p class=\"where\">Times are not measured on this device; all who passed share rank 1.</p>\n";
  }
  return page(frame, assignment.name, body + files_html(assignment));
}

}  // namespace convlab::classroom
