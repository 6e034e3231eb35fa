// Shows what takes the time: kernels, API calls, and the parts of the whole run.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

#include "convlab/report/html.h"
#include "convlab/report/report.h"

namespace convlab {
namespace {

constexpr double kMost = 0.9;
constexpr double kVisible = 0.01;  // of a bill's wall time

/// Returns the layers that caused a row, the longest first.
std::string parts_of(const TotalsRow& row) {
  std::vector<std::pair<int64_t, std::string>> parts;
  for (const auto& [name, ns] : row.parts_ns) parts.emplace_back(ns, name);
  std::ranges::stable_sort(parts, std::greater(), &std::pair<int64_t, std::string>::first);
  std::string text;
  for (const auto& [ns, name] : parts) {
    if (!name.empty()) text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string rows_table(std::string_view caption, std::string_view what, const std::vector<TotalsRow>& rows) {
  if (rows.empty()) return "";
  Table table(caption, {std::string(what), "for", "calls", "time", "share", "cumulative"});
  double together = 0;
  for (const TotalsRow& row : rows_above(rows, kMost)) {
    together += row.share;
    table.row({{.html = fmt::format("<code>{}</code>", escaped(row.name)), .kind = "long"},
               text_cell(parts_of(row)),
               number_cell(std::to_string(row.calls)),
               number_cell(duration(static_cast<double>(row.total_ns) * 1e-6)),
               number_cell(fmt::format("{:.2f} %", 100 * row.share)),
               number_cell(fmt::format("{:.2f} %", 100 * together))});
  }
  return table.html();
}

std::string title_of(const SavedProfile& profile) {
  return fmt::format("<h3><code>{}</code></h3>\n<p class=\"where\">{}; profiling overhead: {:.1f} %</p>\n",
                     escaped(profile.command), escaped(profile.device_name), 100 * profile.overhead);
}

/// Returns profiles of the semester's network, except counter runs of one kernel, which are shown with that kernel.
std::vector<const SavedProfile*> profiles_of(const Contents& contents) {
  std::vector<const SavedProfile*> profiles;
  for (const SavedProfile& profile : contents.input.evidence.profiles) {
    if (!profile.model.starts_with(contents.input.semester)) continue;
    if (profile.counted && !profile.forced_kernel().empty()) continue;
    if (!contents.is_own(profile.forced_kernel())) profiles.push_back(&profile);
  }
  return profiles;
}

std::string profile_command(const Contents& contents, std::string_view more, std::string_view name) {
  return fmt::format("convlab profile {0} --device cuda -n 10000 --plan layers {1}--json {0}-profile-{2}.json",
                     contents.input.answers.model, more, name);
}

}  // namespace

std::string profile_lists(const SavedProfile& profile) {
  const bool gpu = profile.device == "cuda";
  return title_of(profile) +
         rows_table(gpu ? "Kernels and copies that together take more than 90 % of the GPU's time"
                        : "Kernels that together take more than 90 % of the time in kernels",
                    "kernel", profile.summary.activities) +
         rows_table(gpu ? "API calls that together take more than 90 % of the API's time"
                        : "Host calls that together take more than 90 % of the time in calls",
                    "call", profile.summary.calls);
}

void add_profile(Page& page, const Contents& contents) {
  std::string html;
  bool there = false, own = false;
  for (const SavedProfile* profile : profiles_of(contents)) {
    const bool gpu = profile->device == "cuda";
    there |= gpu;
    own |= gpu && !profile->forced_kernel().starts_with("cudnn");
    html += profile_lists(*profile);
  }
  if (html.empty()) html = "<p class=\"missing\">No profiles are recorded.</p>\n";
  page.deliverable({.what = "Kernels that together take more than 90 % of the GPU's time",
                    .section = "profile",
                    .there = there,
                    .commands = {profile_command(contents, "--kernel cudnn ", "library")}});
  page.deliverable({.what = "API calls that together take more than 90 % of the API's time",
                    .section = "profile",
                    .there = there,
                    .commands = {profile_command(contents, "--kernel cudnn ", "library")}});
  if (contents.input.own.empty()) {
    page.deliverable({.what = "Profile of your own kernel",
                      .section = "profile",
                      .there = own,
                      .commands = {profile_command(contents, "", "own")}});
  }
  page.deliverable({.what = "Kernels and API calls explained", .section = "profile", .there = true, .commands = {}});
  page.section("profile", "Profile",
               html + "<h3>Kernels and API calls</h3>\n" + "<p>" + escaped(kKernelsVersusApiCalls) + "</p>\n");
}

void add_bill(Page& page, const Contents& contents) {
  const std::vector<const SavedProfile*> bills = profiles_of(contents);
  const bool gpu = std::ranges::any_of(bills, [](const SavedProfile* profile) { return profile->device == "cuda"; });
  page.deliverable({.what = "Parts of the wall time of a whole run on a GPU",
                    .section = "bill",
                    .there = gpu,
                    .commands = {profile_command(contents, "", "own")}});
  if (bills.empty()) {
    page.section("bill", "Startup time", "<p class=\"missing\">No startup times are recorded.</p>\n");
    return;
  }
  std::string runs;
  std::vector<std::string> labels, parts, headings{"part"};  // parts in the order of first appearance
  for (const SavedProfile* bill : bills) {
    labels.push_back(fmt::format("run {}", labels.size() + 1));
    headings.push_back(labels.back());
    runs += fmt::format("<li>{}: <code>{}</code>, {}</li>\n", labels.back(), escaped(bill->command),
                        escaped(bill->device_name));
    for (const BillLine& line : bill->bill) {
      if (std::ranges::find(parts, line.name) == parts.end()) parts.push_back(line.name);
    }
  }
  headings.emplace_back("remedy");
  Table table("Wall time by part", headings);
  Page::Json series = Page::Json::array();
  std::vector<double> rest(bills.size(), 0.0);  // ms of parts too short to be visible in the chart
  for (const std::string& part : parts) {
    bool visible = false;
    Page::Json values = Page::Json::array();
    std::vector<Cell> row{text_cell(part)};
    std::string remedy;
    for (const SavedProfile* bill : bills) {
      const auto line = std::ranges::find(bill->bill, part, &BillLine::name);
      const double seconds = line == bill->bill.end() ? 0 : line->seconds;
      if (line != bill->bill.end() && remedy.empty()) remedy = line->remedy;
      values.push_back(seconds * 1e3);
      visible |= seconds >= kVisible * bill->wall_s();
      row.push_back(number_cell(duration(seconds * 1e3)));
    }
    if (visible) {
      series.push_back({{"name", part}, {"values", values}});
    } else {
      for (size_t i = 0; i < rest.size(); ++i) rest[i] += values[i].get<double>();
    }
    row.push_back({.html = escaped(remedy), .kind = "long"});
    table.row(std::move(row));
  }
  series.push_back({{"name", "parts below 1 %"}, {"values", rest}});
  constexpr int kBarHeight = 60, kFrame = 190;
  const std::string chart =
      page.chart("Wall time of a whole run by part", kFrame + kBarHeight * static_cast<int>(bills.size()),
                 {{"kind", "bars"}, {"unit", "ms"}, {"stacked", true}, {"labels", labels}, {"series", series}});
  page.section("bill", "Startup time", "<ul>\n" + runs + "</ul>\n" + chart + table.html());
}

}  // namespace convlab
