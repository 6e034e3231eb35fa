// Makes a report of its sections.

#include "convlab/report/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "convlab/base/text.h"
#include "convlab/report/before_after.h"
#include "convlab/report/html.h"

namespace convlab {
namespace {

std::string checklist(const std::vector<Deliverable>& deliverables) {
  std::string html = "<h2>What the course asked for</h2>\n<ul class=\"checklist\">\n";
  std::set<std::string> shown;  // a command may make several of them
  for (const Deliverable& each : deliverables) {
    html += fmt::format("<li class=\"{}\"><a href=\"#{}\">{}</a>", each.there ? "there" : "lacking", each.section,
                        escaped(each.what));
    if (!each.there) {
      html += fmt::format("<span class=\"bad\"> is missing{}</span>", each.commands.empty() ? "" : "; run:");
      for (const std::string& command : each.commands) {
        html +=
            shown.insert(command).second ? fmt::format("<code>{}</code>", escaped(command)) : " (the command above)";
      }
    }
    html += "</li>\n";
  }
  html += "</ul>\n";
  if (!shown.empty()) {
    html +=
        "<p>Run the commands in one folder and pass the files that they write to <code>convlab report "
        "--from</code>.</p>\n";
  }
  return html;
}

std::string tile(std::string_view value, std::string_view what) {
  return fmt::format("<div class=\"tile\"><strong>{}</strong><span>{}</span></div>\n", escaped(value), escaped(what));
}

/// Returns the sum over the network's convolutions of the fastest kernel's Op Time in ms, in one arithmetic; 0 if one
/// is missing.
double best_op_times(const Contents& contents, const MachineRecords& machine, std::string_view math) {
  double sum = 0;
  for (const std::string& one : contents.input.answers.problems) {
    const std::string problem = with_images(one, kCourseSizes[2]);
    double best = 0;
    for (const Record& record : machine.records) {
      if (record.problem != problem || record.math != math) continue;
      if (best == 0 || record.op_ms.median < best) best = record.op_ms.median;
    }
    if (best == 0) return 0;
    sum += best;
  }
  return sum;
}

/// Returns how many kernels passed, and each machine's time of the fastest of them.
std::string own_tiles(const Contents& contents) {
  const std::vector<OwnKernel>& own = contents.input.own;
  const auto right = std::ranges::count_if(own, [&](const OwnKernel& kernel) {
    const SavedVerdict* const verdict = verdict_of(contents.input.evidence, kernel.name);
    return verdict != nullptr && verdict->passed();
  });
  std::string html = tile(fmt::format("{} of {}", right, own.size()), "kernel files passed");
  for (const MachineRecords& machine : contents.machines) {
    std::pair<double, std::string> best;
    for (const OwnKernel& kernel : own) {
      const double ms = all_op_times(contents, machine, kernel.name, kCourseSizes[2]);
      if (ms > 0 && (best.first == 0 || ms < best.first)) best = {ms, kernel.file_name()};
    }
    if (best.first == 0) continue;
    const std::string device = text_before(machine.machine.device, ',');
    html += tile(duration(best.first), fmt::format("Op Times of {}, 10000 images, {}", best.second, device));
  }
  return "<div class=\"tiles\">\n" + html +
         "</div>\n<p>Fields with a dashed frame are for your own text: type into the page, then print or save it in "
         "the browser.</p>\n";
}

std::string tiles(const Contents& contents) {
  if (!contents.input.own.empty()) return own_tiles(contents);
  const Answers& answers = contents.input.answers;
  const auto count = static_cast<int64_t>(answers.predicted.size());
  std::string html = tile(fmt::format("{}", answers.accuracy(count)), fmt::format("accuracy on {} images", count));
  for (const MachineRecords& machine : contents.machines) {
    const double best = best_op_times(contents, machine, "fp32");
    const std::string device = text_before(machine.machine.device, ',');
    if (best > 0)
      html += tile(duration(best), fmt::format("Op Times of the fastest fp32 kernels, 10000 images, {}", device));
  }
  const auto missing = std::ranges::count(contents.kernels, std::string(), &KernelFacts::source);
  html += tile(std::to_string(contents.kernels.size() - static_cast<size_t>(missing)), "kernels with source code");
  return "<div class=\"tiles\">\n" + html + "</div>\n";
}

std::string title_of(const ReportInput& input) {
  if (input.own.empty()) return fmt::format("convlab report: {}", input.answers.model);
  std::string names;
  for (const OwnKernel& own : input.own) names += (names.empty() ? "" : ", ") + own.file_name();
  return fmt::format("{}: convolutions of {}", names, input.answers.model);
}

}  // namespace

std::string Contents::semester_option() const {
  return input.semester == "fa19" ? "" : fmt::format("--semester {} ", input.semester);
}

bool Contents::is_own(const std::string& kernel) const {
  return std::ranges::any_of(input.own, [&](const OwnKernel& own) { return own.name == kernel; });
}

Report make_report(const ReportInput& input) {
  const Contents contents{
      .input = input, .machines = by_machine(input.evidence.records), .kernels = all_kernels(input.evidence.records)};
  Page page;
  if (input.own.empty()) {
    add_course(page, contents);
    add_profile(page, contents);
    add_op_times(page, contents);
    add_ladder(page, contents);
    add_optimizations(page, contents);
    add_networks(page, contents);
    add_bill(page, contents);
  } else {
    add_own_kernels(page, contents);
    add_comparison(page, contents);
    add_course(page, contents);
    add_profile(page, contents);
  }
  add_answers(page, contents);
  add_machines(page, contents);
  add_methods(page, contents);
  const std::string title = title_of(input);
  const std::string front = fmt::format("<p class=\"network\">{}</p>\n", escaped(input.answers.layers)) +
                            tiles(contents) + checklist(page.deliverables());
  return {.html = page.html(title, front), .deliverables = page.deliverables()};
}

}  // namespace convlab
