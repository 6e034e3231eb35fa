// Shows the user's kernel files: whether they are right, how fast they are, and why.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "convlab/report/before_after.h"
#include "convlab/report/html.h"
#include "convlab/report/marked_source.h"
#include "convlab/report/own_tables.h"
#include "convlab/report/report.h"
#include "convlab/report/utilisation.h"

namespace convlab {
namespace {

/// Returns a field for the reader's own text, which is editable in the browser.
std::string gap(std::string_view question) {
  return fmt::format(
      "<div class=\"gap\"><p>Write here: {0}</p><div contenteditable=\"true\" role=\"textbox\" "
      "aria-multiline=\"true\" aria-label=\"{0}\"></div></div>\n",
      escaped(question));
}

std::string missing(std::string_view what, const std::vector<std::string>& commands) {
  std::string html = fmt::format("<p class=\"missing\">{}", what);
  for (const std::string& command : commands) html += fmt::format("<code>{}</code>", escaped(command));
  return html + "</p>\n";
}

/// Makes the parts of one kernel's section, and lists what is missing.
class OwnSection {
 public:
  OwnSection(Page& page, const Contents& contents, const OwnKernel& kernel, std::string id)
      : page_(page),
        contents_(contents),
        evidence_(contents.input.evidence),
        kernel_(kernel),
        wants_(wants_of(kernel, contents.input)),
        counts_(counts_of(evidence_, kernel.name, contents.input.semester)),
        id_(std::move(id)) {}

  std::string html() {
    const SavedVerdict* const verdict = verdict_of(evidence_, kernel_.name);
    std::string html = verdict_text(verdict);
    promise(verdict == nullptr || verdict->passed()
                ? "passing verdict of 'convlab verify'"
                : fmt::format("passing verdict of 'convlab verify' (now {})", verdict->verdict),
            verdict != nullptr && verdict->passed(), Want::Kind::verdict);
    if (verdict == nullptr || !verdict->passed()) {
      html += "<p class=\"missing\">Times and counts are omitted until the kernel passes 'convlab verify'.</p>\n";
      return html + gap("what went wrong, and how did you find it?") + source();
    }
    html += gap("what is the idea of this kernel, and why did you expect it to help?");
    html += outputs();
    html += effect();
    html += roofline();
    html += prediction();
    html += profile();
    html += counters();
    html += lessons();
    html += pictures();
    return html + source() + gap("what would you try next, and what gain do the figures above suggest?");
  }

 private:
  std::string heading(std::string_view title) const { return fmt::format("<h3>{}</h3>\n", title); }

  std::vector<std::string> commands(Want::Kind kind) const {
    std::vector<std::string> commands;
    for (const Want& want : wants_) {
      if (want.kind == kind && !want.there) commands.push_back(want.command(kernel_));
    }
    return commands;
  }

  void promise(std::string_view what, bool there, Want::Kind kind) {
    page_.deliverable({.what = fmt::format("{}: {}", kernel_.name, what),
                       .section = id_,
                       .there = there,
                       .commands = there ? std::vector<std::string>{} : commands(kind)});
  }

  std::string verdict_text(const SavedVerdict* verdict) const {
    if (verdict == nullptr) return missing("Not verified; verify it with:", commands(Want::Kind::verdict));
    if (verdict->passed()) {
      return fmt::format(
          "<p class=\"verdict good\"><strong>PASSED</strong> on {}; largest error {:.1g} times the largest "
          "value.</p>\n",
          escaped(fmt::format("{}", fmt::join(verdict->cases, ", "))), verdict->largest_error);
    }
    std::string html =
        fmt::format("<p class=\"verdict bad\"><strong>{}</strong></p>\n<ul>\n", escaped(verdict->verdict));
    for (const std::string& reason : verdict->reasons) {
      html += fmt::format("<li class=\"reason\">{}</li>\n", escaped(reason));
    }
    return html + "</ul>\n";
  }

  std::string outputs() {
    const std::string script = kernel_.for_gpu() ? "m3.1" : "m2.1";
    const std::vector<std::string> lacking = commands(Want::Kind::outputs);
    promise(fmt::format("outputs, correctness and Op Times of {} at 100, 1000 and 10000 images", script),
            lacking.empty(), Want::Kind::outputs);
    std::string html = heading("Outputs") + output_table(contents_, kernel_);
    if (!lacking.empty()) html += missing("Not run on this machine; run it with:", lacking);
    return html;
  }

  std::string effect() {
    const bool timed = commands(Want::Kind::times).empty();
    promise(fmt::format("Op Times before and after, against {}", kernel_.baseline), timed, Want::Kind::times);
    if (kernel_.for_gpu()) {
      const auto uncounted = std::ranges::count_if(
          wants_, [](const Want& want) { return want.kind == Want::Kind::counts && !want.there; });
      promise(fmt::format("sectors, wavefronts and flops before and after, against {}", kernel_.baseline),
              uncounted == 0, Want::Kind::counts);
    }
    std::string html = heading("Before and after") + before_and_after(contents_, kernel_);
    if (!timed) {
      html += missing(kernel_.for_gpu() ? "Not timed: simt does not predict GPU times. On a machine with a GPU, run:"
                                        : "Not timed; time it with:",
                      commands(Want::Kind::times));
    }
    return html + gap("do times and counts agree with what you expected? If not, why?");
  }

  std::string roofline() {
    std::string html;
    for (const MachineRecords& machine : contents_.machines) html += roofline_chart(page_, contents_, kernel_, machine);
    promise("points in the roofline chart", !html.empty(), Want::Kind::times);
    if (html.empty()) html = missing("The roofline chart needs a time; measure it with:", commands(Want::Kind::times));
    return heading("Roofline") + html;
  }

  std::string prediction() {
    const std::string table = prediction_table(contents_, kernel_);
    const std::vector<std::string> lacking = commands(Want::Kind::prediction);
    if (kernel_.for_gpu() && kernel_.baseline != kernel_.name) {
      promise(fmt::format("prediction of the gain over {}", kernel_.baseline), lacking.empty(), Want::Kind::prediction);
    }
    if (table.empty()) {
      return lacking.empty() ? "" : heading("Prediction and measurement") + missing("Predict it with:", lacking);
    }
    return heading("Prediction and measurement") + table +
           gap("where prediction and measurement differ, what does the prediction leave out?");
  }

  std::string profile() {
    const bool there = profile_of(evidence_, kernel_.name, contents_.input.semester, false) != nullptr;
    promise("kernels and API calls that take more than 90 % of the time", there, Want::Kind::profile);
    std::string html = heading("What takes more than 90 % of the time") + profile_tables(contents_, kernel_);
    if (!there)
      html += missing(fmt::format("No {}profile is recorded; record one with:", kernel_.for_gpu() ? "GPU " : ""),
                      commands(Want::Kind::profile));
    return html;
  }

  std::string counters() {
    if (!kernel_.for_gpu()) return "";
    const bool gpus = has_counters(contents_, kernel_.name);
    promise("counters", gpus || !counts_.empty(), Want::Kind::counts);
    std::string html = heading("Counters") + utilisation(page_, contents_, kernel_.name) + count_table(counts_);
    if (counts_.empty()) html += missing("Count it on simt with:", commands(Want::Kind::counts));
    if (!gpus) {
      html += missing("GPU counters are missing; on a GPU whose driver permits it, record them with:",
                      commands(Want::Kind::profile));
    }
    return html;
  }

  std::string lessons() const {
    std::vector<std::pair<double, std::string>> all;
    for (const SavedCounts* each : counts_) {
      for (const KernelLesson& lesson : each->lessons) {
        all.emplace_back(lesson.share, fmt::format("<li><strong>{}</strong>, {}: {}</li>\n", escaped(lesson.where),
                                                   escaped(each->layer), escaped(lesson.text)));
      }
    }
    if (counts_.empty()) return "";
    std::ranges::stable_sort(all, std::ranges::greater(), &std::pair<double, std::string>::first);
    std::string html;
    for (const auto& [share, text] : all) html += text;
    if (html.empty()) html = "<li>No uncoalesced access, no bank conflict, no branch divergence.</li>\n";
    return heading("Findings from the counts") + "<ul class=\"lessons\">\n" + html + "</ul>\n" +
           gap("which of these did you know before, and which will you follow?");
  }

  std::string pictures() {
    if (!kernel_.for_gpu()) return "";
    const std::string html = pictures_of(counts_, MemorySpace::global) + pictures_of(counts_, MemorySpace::shared);
    promise("lanes by sectors and banks of the costliest accesses", !html.empty(), Want::Kind::counts);
    if (html.empty()) return "";
    return heading("Costliest accesses, lane by lane") + "<div class=\"requests\">\n" + html + "</div>\n";
  }

  std::string source() const { return heading("Source code") + marked_source(kernel_, counts_); }

  Page& page_;
  const Contents& contents_;
  const Evidence& evidence_;
  const OwnKernel& kernel_;
  const std::vector<Want> wants_;
  const std::vector<const SavedCounts*> counts_;
  const std::string id_;
};

}  // namespace

void add_own_kernels(Page& page, const Contents& contents) {
  std::vector<std::pair<std::string, std::string>> sections;
  for (size_t i = 0; i < contents.input.own.size(); ++i) {
    const OwnKernel& kernel = contents.input.own[i];
    const std::string id = fmt::format("own-{}", i + 1);
    sections.emplace_back(kernel.name, OwnSection(page, contents, kernel, id).html());
  }
  std::string failed;
  for (const std::string& reason : contents.input.failed) {
    failed += fmt::format("<p class=\"bad reason\">Measurement failed: {}</p>\n", escaped(reason));
  }
  page.section("own", "Kernels at a glance",
               own_overview(contents) + failed + gap("who did what, and whose ideas and code did you use?"));
  for (size_t i = 0; i < sections.size(); ++i) {
    page.section(fmt::format("own-{}", i + 1), sections[i].first, sections[i].second);
  }
}

}  // namespace convlab
