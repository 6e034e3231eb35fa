// Writes submissions as text and as JSON.

#include "app/class/telling.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/results/progress_line.h"
#include "convlab/base/error.h"
#include "convlab/base/text.h"
#include "convlab/classroom/standings.h"
#include "convlab/report/html.h"

namespace convlab::app {
namespace {

std::string judged_text(const judge::Judgement& judgement) {
  std::string text(name_of(judgement.verdict));
  if (judgement.verdict != judge::Verdict::passed) {
    return fmt::format("{} ({}): {}", text, name_of(judgement.failed_at), judgement.reason);
  }
  text += fmt::format(", {}", name_of(judgement.math));
  if (judgement.ratio) {
    text += fmt::format(", {:.4g}x the reference time ({:.4g} to {:.4g})", judgement.ratio->median,
                        judgement.ratio->low, judgement.ratio->high);
  }
  const std::string counters = classroom::counters_text(judgement);
  return counters.empty() ? text : text + ", " + counters;
}

std::vector<std::string> lines_of(const std::string& text) {
  return split(text.ends_with('\n') ? std::string_view(text).substr(0, text.size() - 1) : text, '\n');
}

/// Returns a table of each layer's times.
std::string times_text(const std::vector<judge::LayerTime>& times) {
  if (times.empty()) return "";
  size_t width = 0;
  for (const judge::LayerTime& each : times) width = std::max(width, each.layer.size());
  std::string text = fmt::format("{:{}}  {:>10}  {:>9}  {:>9}\n", "", width, "submission", "reference", "bound");
  constexpr double kMs = 1e3;
  for (const judge::LayerTime& each : times) {
    text += fmt::format("{:{}}  {:>10}  {:>9}  {:>9}  {:.0f} % of the direct-convolution roofline\n", each.layer, width,
                        duration(kMs * each.seconds), duration(kMs * each.reference_s), duration(kMs * each.bound_s),
                        100 * each.bound_s / each.seconds);
  }
  return text;
}

}  // namespace

std::string name_of(const Seen& seen) {
  const classroom::Submission& submission = seen.submission;
  return submission.number > 0 ? std::to_string(submission.number) : submission.receipt;
}

std::string state_text(const Seen& seen) {
  const classroom::Submission& submission = seen.submission;
  std::string text = submission.judgement ? judged_text(*submission.judgement) : "";
  if (submission.is_done()) return text;
  if (!text.empty()) text += "; judging again: ";
  text += name_of(submission.stage);
  if (seen.turn) {
    text += fmt::format(", position {} in the {} queue", seen.turn->place, submission.device);
    text += seen.turn->due_s ? ", due in " + duration_text(*seen.turn->due_s)
                             : std::string(" (no estimate before the first verdicts)");
  }
  return text;
}

std::string details_text(const Seen& seen) {
  const classroom::Submission& submission = seen.submission;
  std::string text = fmt::format("{}: {} by {} for {}, {}\n", name_of(seen), submission.file, submission.student.name,
                                 submission.assignment, classroom::time_text(submission.arrived_s));
  text += state_text(seen) + "\n";
  if (!submission.complaint.empty()) text += "The judge failed: " + submission.complaint + "\n";
  if (!submission.judgement) return text;
  if (!submission.judgement->what_to_do.empty()) text += "help: " + submission.judgement->what_to_do + "\n";
  text += times_text(submission.judgement->times);
  for (const judge::StageLog& each : submission.judgement->stages) {
    text += fmt::format("{}: {:.2f} s\n", name_of(each.stage), each.seconds);
    for (const std::string& line : lines_of(each.log)) text += "  | " + line + "\n";
  }
  return text;
}

void write_json(Output& output, const std::vector<Seen>& seen) {
  Json all = Json::array();
  for (const Seen& each : seen) {
    const classroom::Submission& submission = each.submission;
    Json json{{"number", nullptr},
              {"receipt", submission.receipt},
              {"name", submission.student.name},
              {"assignment", submission.assignment},
              {"file", submission.file},
              {"arrived", classroom::time_text(submission.arrived_s)},
              {"stage", name_of(submission.stage)},
              {"verdict", nullptr},
              {"reason", nullptr},
              {"place", nullptr},
              {"due_s", nullptr},
              {"ratio", nullptr}};
    if (submission.number > 0) json["number"] = submission.number;
    if (each.turn) json["place"] = each.turn->place;
    if (each.turn && each.turn->due_s) json["due_s"] = *each.turn->due_s;
    if (submission.judgement) {
      const Json judgement = judge::to_json(*submission.judgement);
      for (const char* member :
           {"verdict", "reason", "what_to_do", "failed_at", "math", "times", "counters", "stages"}) {
        json[member] = judgement.at(member);
      }
      if (const auto& ratio = submission.judgement->ratio) {
        json["ratio"] = ratio->median;
        json["low"] = ratio->low;
        json["high"] = ratio->high;
      }
    }
    all.push_back(std::move(json));
  }
  output.json({{"submissions", std::move(all)}});
}

void require_passed(const Seen& seen) {
  const auto& judgement = seen.submission.judgement;
  if (judgement && judgement->verdict != judge::Verdict::passed) {
    throw wrong_result("submission {}: {}", name_of(seen), name_of(judgement->verdict));
  }
}

}  // namespace convlab::app
