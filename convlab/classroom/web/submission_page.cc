// Renders the page of a submission.

#include "convlab/classroom/web/submission_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "convlab/base/text.h"
#include "convlab/report/html.h"

namespace convlab::classroom {
namespace {

using judge::Judgement;
using judge::Stage;
using judge::Verdict;

/// "40 s", "3 min", "2 h".
std::string about(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds < 1.5 * kMinute) return fmt::format("{:.0f} s", seconds);
  return seconds < 1.5 * kHour ? fmt::format("{:.0f} min", seconds / kMinute)
                               : fmt::format("{:.0f} h", seconds / kHour);
}

// Limits of what a page shows of a judgment, which includes output of the submission's own process.
constexpr size_t kMostCards = 32, kMostLayers = 16, kMostStages = 8;
constexpr size_t kMostShown =
    size_t{12} << 10;  // bytes of a log or a reason; HTML escaping makes them up to five times longer

/// Returns the last kMostShown bytes of a text, from the start of a line if possible.
std::string end_of(const std::string& text) {
  if (text.size() <= kMostShown) return text;
  const size_t cut = text.size() - kMostShown, line = text.find('\n', cut);
  size_t begin = line == std::string::npos ? cut : line + 1;
  while (begin < text.size() && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) ++begin;
  return fmt::format("... the last {} of {} bytes:\n", text.size() - begin, text.size()) + text.substr(begin);
}

/// Returns the first `most` elements of a list, or all of it.
template <class T>
std::span<const T> first_of(const std::vector<T>& all, size_t most) {
  return std::span(all).first(std::min(all.size(), most));
}

bool passed(const Submission& submission) {
  return submission.judgement && submission.judgement->verdict == judge::Verdict::passed;
}

std::string stage_item(std::string_view kind, Stage stage, std::string_view said) {
  return fmt::format("<li class=\"{}\">{} <small>{}</small></li>\n", kind, name_of(stage), escaped(said));
}

/// Returns the stages of a submission that has no verdict yet.
std::string stages_so_far(const Submission& submission, const std::optional<Turn>& turn, bool has_worker) {
  constexpr std::array kStages{Stage::queued, Stage::compiling, Stage::recording, Stage::verifying, Stage::timing};
  std::string html = "<ol class=\"stages\" aria-label=\"Stages\">\n";
  for (const Stage each : kStages) {
    if (each > submission.stage) break;
    std::string said;
    if (each == Stage::queued && turn) {
      said = fmt::format("position {}", turn->place);
      said += !has_worker   ? std::string("; no worker is running")
              : turn->due_s ? ", verdict in about " + about(*turn->due_s)
                            : std::string("; no estimate before the first verdicts");
    }
    html += stage_item(each == submission.stage ? "now" : "over", each, said);
  }
  return html + "</ol>\n";
}

std::string stages_of(const Judgement& judgement) {
  std::string html = "<ol class=\"stages\" aria-label=\"Stages\">\n";
  for (const judge::StageLog& each : first_of(judgement.stages, kMostStages)) {
    const bool failed = judgement.verdict != judge::Verdict::passed && each.stage == judgement.failed_at;
    html += stage_item(failed ? "failed" : "over", each.stage, duration(1e3 * each.seconds));
  }
  return html + "</ol>\n";
}

std::string verdict_html(const Judgement& judgement) {
  const bool passed = judgement.verdict == judge::Verdict::passed;
  std::string html = fmt::format("<p class=\"verdict\"><strong class=\"{}\">{}</strong> {}</p>\n",
                                 passed ? "good" : "bad", name_of(judgement.verdict),
                                 passed ? fmt::format("with {} arithmetic", name_of(judgement.math))
                                        : fmt::format("in stage {}", name_of(judgement.failed_at)));
  // Compiler messages point at columns, so they need a fixed-width font.
  const bool has_lines = judgement.reason.find('\n') != std::string::npos || judgement.verdict == Verdict::not_compiled;
  const std::string reason = escaped(end_of(judgement.reason));
  if (!reason.empty() && has_lines) html += fmt::format("<pre class=\"code\">{}</pre>\n", reason);
  if (!reason.empty() && !has_lines) html += fmt::format("<p class=\"reason\">{}</p>\n", reason);
  if (!judgement.what_to_do.empty())
    html += fmt::format("<p>What to do: {}</p>\n", escaped(end_of(judgement.what_to_do)));
  return html;
}

/// Returns two bars: the reference's time, and the submission's with its bounds.
std::string times_html(const judge::Ratio& ratio) {
  constexpr double kLeft = 80, kLongest = 270;
  const double unit = kLongest / std::max({1.0, ratio.median, ratio.high});
  return fmt::format(
      "<h2>Time</h2>\n<p>{0}x the reference time (95 % interval {1} to {2}, {3} samples).</p>\n"
      "<figure class=\"history\"><svg viewBox=\"0 0 360 76\" role=\"img\" aria-label=\"{0}x the reference time\">\n"
      "<text x=\"72\" y=\"22\" text-anchor=\"end\">reference</text>"
      "<rect class=\"reference\" x=\"80\" y=\"8\" width=\"{4:.1f}\" height=\"20\"/>\n"
      "<text x=\"72\" y=\"58\" text-anchor=\"end\">this</text>"
      "<rect class=\"this\" x=\"80\" y=\"44\" width=\"{5:.1f}\" height=\"20\"/>"
      "<path class=\"bounds\" d=\"M{6:.1f} 54H{7:.1f}M{6:.1f} 49v10M{7:.1f} 49v10\"/>\n</svg></figure>\n",
      significant(ratio.median), significant(ratio.low), significant(ratio.high), ratio.samples, unit,
      unit * ratio.median, kLeft + unit * ratio.low, kLeft + unit * ratio.high);
}

/// Returns "41 % of the direct-convolution roofline of this GPU".
std::string share_text(const judge::LayerTime& time, std::string_view machine) {
  return fmt::format("{:.0f} % of the direct-convolution roofline of this {}", 100 * time.bound_s / time.seconds,
                     machine);
}

/// Returns three bars for each layer: the reference, the submission, and the roofline bound.
std::string layers_html(std::span<const judge::LayerTime> times, std::string_view machine) {
  double longest_s = 0;
  for (const judge::LayerTime& each : times) longest_s = std::max({longest_s, each.seconds, each.reference_s});
  const auto bar = [&](std::string_view kind, double y, double seconds) {
    constexpr double kLeft = 80, kLongest = 200;
    const double width = kLongest * std::min(1.0, seconds / longest_s);
    return fmt::format(
        "<text x=\"72\" y=\"{1}\" text-anchor=\"end\">{0}</text><rect class=\"{0}\" x=\"{2}\" y=\"{3}\" "
        "width=\"{4:.1f}\" height=\"14\"/><text x=\"{5:.1f}\" y=\"{1}\">{6}</text>\n",
        kind, y + 11, kLeft, y, width, kLeft + width + 6, duration(1e3 * seconds));
  };
  std::string html;
  for (const judge::LayerTime& each : times) {
    const std::string share = share_text(each, machine), layer = escaped(printable(each.layer));
    html += fmt::format(
        "<figure class=\"history\"><figcaption>{0}</figcaption><svg viewBox=\"0 0 360 62\" role=\"img\" "
        "aria-label=\"{0}: {1}\">\n",
        layer, share);
    html += bar("reference", 2, each.reference_s) + bar("this", 22, each.seconds) + bar("bound", 42, each.bound_s);
    html += fmt::format("</svg><small>{}</small></figure>\n", share);
  }
  return html;
}

std::string counted(std::string_view what, const std::string& figure) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", escaped(what), escaped(figure));
}

/// Returns a card for each layer and kernel.
std::string counters_html(const std::vector<judge::KernelCountsSummary>& counters) {
  std::string html = "<h2>Counters</h2>\n<div class=\"counters\">\n";
  for (const judge::KernelCountsSummary& each : first_of(counters, kMostCards)) {
    const auto sectors = static_cast<double>(each.global_sectors), least = static_cast<double>(each.least_sectors);
    html += fmt::format("<article><h3>{}</h3>\n<p class=\"where\">{}</p>\n<dl>\n", escaped(printable(each.kernel)),
                        escaped(printable(each.layer)));
    html += counted("Launches", std::to_string(each.launches));
    html += counted("Floating-point operations", fmt::format("{:.4g} M", 1e-6 * static_cast<double>(each.flops)));
    html += counted("32-byte sectors moved", fmt::format("{:.4g} M", 1e-6 * sectors));
    html += counted("Minimum sectors", fmt::format("{:.4g} M", 1e-6 * least));
    if (least > 0) html += counted("Moved / minimum", fmt::format("{:.3g}", sectors / least));
    html += counted("Bank conflicts", std::to_string(each.bank_conflicts));
    html += counted("Occupancy", fmt::format("{:.0f} %", 100 * each.occupancy)) + "</dl></article>\n";
  }
  html += "</div>\n";
  if (counters.size() > kMostCards) {
    html += fmt::format("<p class=\"missing\">Showing the first {} of {}.</p>\n", kMostCards, counters.size());
  }
  return html;
}

std::string logs_html(const Judgement& judgement) {
  std::string html;
  for (const judge::StageLog& each : first_of(judgement.stages, kMostStages)) {
    if (each.log.empty()) continue;
    html +=
        fmt::format("<details{}><summary>{}</summary><pre class=\"code\">{}</pre></details>\n",
                    each.stage == judgement.failed_at ? " open" : "", name_of(each.stage), escaped(end_of(each.log)));
  }
  return html.empty() ? "" : "<h2>Stage logs</h2>\n" + html;
}

}  // namespace

std::string state_of(const Submission& submission, const std::optional<Turn>& turn) {
  if (passed(submission)) return fmt::format("PASSED, {}", name_of(submission.judgement->math));
  if (submission.judgement) return std::string(name_of(submission.judgement->verdict));
  if (turn) return fmt::format("queued, position {}", turn->place);
  return std::string(name_of(submission.stage));
}

std::string submission_page(const Frame& frame, const Submission& submission, const std::optional<Turn>& turn,
                            bool has_worker) {
  std::string body = fmt::format("<p class=\"where\">{0} for <a href=\"/board/{1}\">{1}</a> on {2}, received {3}</p>\n",
                                 escaped(submission.file), escaped(submission.assignment), escaped(submission.device),
                                 time_html(submission.arrived_s));
  if (!submission.is_done()) {
    body += stages_so_far(submission, turn, has_worker);
    body += submission.judgement
                ? "<p class=\"missing\">It is being judged again; until then, this verdict counts:</p>\n"
                : "<p class=\"missing\">This page reloads automatically.</p>\n";
  }
  if (submission.judgement) {
    const Judgement& judgement = *submission.judgement;
    body += verdict_html(judgement) + stages_of(judgement);
    if (judgement.ratio) body += times_html(*judgement.ratio);
    body += layers_html(first_of(judgement.times, kMostLayers), submission.device == "cpu" ? "CPU" : "GPU");
    if (!judgement.counters.empty()) body += counters_html(judgement.counters);
    body += logs_html(judgement);
  }
  return page(frame, fmt::format("Submission {}", submission.number), body,
              submission.judgement ? Refresh::never : Refresh::soon);
}

std::string arrived_page(const Frame& frame, const std::string& receipt) {
  return page(frame, "Submission received",
              fmt::format("<p>Your submission was received, and its arrival time counts. It has no number yet; when a "
                          "worker has read it, <a href=\"/submission/{0}\">this page</a> shows the number.</p>\n"
                          "<p class=\"where\">Receipt: {0}</p>\n",
                          receipt));
}

}  // namespace convlab::classroom
