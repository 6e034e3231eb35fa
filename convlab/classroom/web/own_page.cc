// Renders a student's own page.

#include "convlab/classroom/web/own_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "convlab/classroom/web/history_plot.h"
#include "convlab/classroom/web/submission_page.h"
#include "convlab/report/html.h"

namespace convlab::classroom {
namespace {

using Lines = std::vector<const OwnView::Line*>;

constexpr size_t kMostLines = 200;

std::string hand_in_form(const Frame& frame, const OwnView& own) {
  std::string html = "<article><h3>Submit</h3>\n" + form_begin(frame.viewer, "/submit", true);
  html += "<p><label for=\"assignment\">Assignment</label>\n<select id=\"assignment\" name=\"assignment\">\n";
  for (const AssignmentSettings& each : own.assignments)
    html += fmt::format("<option>{}</option>\n", escaped(each.name));
  return html +
         "</select></p>\n<p><label for=\"file\">Kernel file, at most 1 MiB</label>\n"
         "<input id=\"file\" name=\"file\" type=\"file\" required accept=\".cu,.cuh,.cc,.cpp,.h,.hpp\"></p>\n"
         "<p><button>Submit</button></p></form></article>\n";
}

std::string plot_of(const Lines& lines) {
  const bool has_clock = std::ranges::any_of(
      lines, [](const OwnView::Line* each) { return each->submission.judgement && each->submission.judgement->ratio; });
  std::vector<HistoryPoint> points;
  for (const OwnView::Line* each : lines) {
    const Submission& submission = each->submission;
    if (!submission.judgement) continue;
    HistoryPoint point{.number = submission.number, .verdict = std::string(name_of(submission.judgement->verdict))};
    const bool passed = submission.judgement->verdict == judge::Verdict::passed;
    if (const auto& ratio = submission.judgement->ratio; passed && ratio) {
      point.value = ratio->median;
      point.low = ratio->low;
      point.high = ratio->high;
    } else if (passed && !has_clock && !submission.judgement->counters.empty()) {
      double sectors = 0;
      for (const auto& kernel : submission.judgement->counters) sectors += static_cast<double>(kernel.global_sectors);
      point.value = point.low = point.high = 1e-6 * sectors;
    }
    points.push_back(std::move(point));
  }
  if (has_clock) return history_plot(std::move(points), {"Time relative to the reference", 1});
  return history_plot(std::move(points), {"Global memory traffic, millions of 32-byte sectors", std::nullopt});
}

std::string table_of(const Lines& lines) {
  Table table("Newest first", {"No.", "State", "Ratio"});
  const size_t shown = std::min(lines.size(), kMostLines);
  for (auto each = lines.rbegin(); each != lines.rbegin() + static_cast<ptrdiff_t>(shown); ++each) {
    const Submission& submission = (*each)->submission;
    const bool done = submission.judgement.has_value();
    const bool passed = done && submission.judgement->verdict == judge::Verdict::passed;
    const bool timed = done && submission.judgement->ratio.has_value();
    table.row({{.html = fmt::format("<a href=\"/submission/{0}\">{0}</a>", submission.number), .kind = "number"},
               {.html = fmt::format("<span class=\"{}\">{}</span><br><small>{}, {}</small>",
                                    passed ? "good"
                                    : done ? "bad"
                                           : "",
                                    escaped(state_of(submission, (*each)->turn)), escaped(submission.file),
                                    time_html(submission.arrived_s)),
                .kind = "who"},
               timed ? number_cell(significant(submission.judgement->ratio->median)) : missing_cell()});
  }
  std::string html = "<div class=\"fitted\">\n" + table.html() + "</div>\n";
  if (shown < lines.size())
    html += fmt::format("<p class=\"missing\">Showing the last {} of {}.</p>\n", shown, lines.size());
  return html;
}

}  // namespace

std::string own_page(const Frame& frame, const OwnView& own) {
  std::string body = fmt::format("<p class=\"where\">Your name in the rankings: {}</p>\n", escaped(own.alias));
  body += hand_in_form(frame, own);
  std::vector<std::string> names;
  for (const OwnView::Line& each : own.submissions) {
    if (std::ranges::find(names, each.submission.assignment) == names.end())
      names.push_back(each.submission.assignment);
  }
  for (const std::string& name : names) {
    Lines lines;
    for (const OwnView::Line& each : own.submissions) {
      if (each.submission.assignment == name) lines.push_back(&each);
    }
    body += fmt::format("<h2>{}</h2>\n", escaped(name)) + plot_of(lines) + table_of(lines);
  }
  if (names.empty()) body += "<p class=\"missing\">You have no submissions yet.</p>\n";
  return page(frame, "Your submissions", body);
}

}  // namespace convlab::classroom
