// Turns a wrong output and its cause into a finding.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convlab/device/simt.h"
#include "convlab/device/simt_launches.h"
#include "convlab/verify/diagnosis.h"

namespace convlab {
namespace {

/// Returns "image 0, channels 0..11, rows 5..9, columns 7..11 of x", the inputs of an output; "" if it is pooled.
std::string sources_of(const OutputElement& element, const ConvStep& step) {
  if (step.epilogue.pool) return "";
  const ConvProblem& problem = step.problem;
  const int64_t channels = problem.channels_per_group();
  // Clamps the range to existing indices.
  const auto range = [](int64_t first, int64_t last, int64_t count) {
    first = std::max<int64_t>(first, 0);
    last = std::min(last, count - 1);
    return first == last ? fmt::format("{}", first) : fmt::format("{}..{}", first, last);
  };
  const int64_t c = element.k / problem.maps_per_group() * channels;
  const int64_t h = element.p * problem.stride_h - problem.pad_top;
  const int64_t w = element.q * problem.stride_w - problem.pad_left;
  return fmt::format("image {}, channels {}, rows {}, columns {} of x", element.n,
                     range(c, c + channels - 1, problem.c),
                     range(h, h + (problem.r - 1) * problem.dilation_h, problem.h),
                     range(w, w + (problem.s - 1) * problem.dilation_w, problem.w));
}

/// Adds to an output that no thread wrote which kernels were launched.
void add_launches(const Cause& cause, int64_t outputs, Finding& finding) {
  const std::vector<SimtLaunches> launches = take_simt_launches();
  if (launches.empty()) {
    finding.text += ": no kernel was launched";
    finding.help = "launch a kernel that writes the output: kernel<<<grid, block>>>(arguments)";
    return;
  }
  if (cause.kind != Cause::Kind::unwritten) return;
  constexpr size_t kMost = 3;
  int64_t threads = 0;
  for (const SimtLaunches& each : launches) {
    threads += each.threads * each.count;
    if (finding.labels.size() == kMost) continue;
    const std::string times = each.count > 1 ? fmt::format(", launched {} times", each.count) : "";
    finding.labels.push_back(
        {.place = each.place,
         .text = fmt::format("{} = {} threads for {} outputs{}", each.shape, each.threads, outputs, times),
         .subject = each.kernel.substr(0, each.kernel.find('<'))});
  }
  finding.help = threads < outputs
                     ? "launch a thread for each output: possibly round up the grid, (n + TILE - 1) / TILE"
                     : "possibly a bounds check is too strict, or a dimension of the grid is too small";
}

}  // namespace

Finding wrong_output(const Verdict& verdict, const WrongOutput& wrong, const Cause& cause) {
  Finding finding{.kind = std::string(kWrongOutput), .text = headline(verdict, cause.origin)};
  if (verdict.wrong == 0) return finding;
  const bool is_unwritten = cause.kind == Cause::Kind::unwritten || cause.kind == Cause::Kind::not_copied;
  if (is_unwritten) {
    finding.kind = kUnwrittenOutput;
    finding.text = fmt::format("{} of {} outputs were never written", cause.everywhere ? verdict.count : verdict.wrong,
                               verdict.count);
  }
  const OutputElement &first = verdict.first, &worst = verdict.worst;
  finding.notes.push_back("first: " + describe(first, cause.origin));
  const bool is_same = first.n == worst.n && first.k == worst.k && first.p == worst.p && first.q == worst.q;
  if (!is_same && !is_unwritten) finding.details.push_back("largest error: " + describe(worst, cause.origin));
  switch (cause.kind) {
    case Cause::Kind::unknown:
      break;
    case Cause::Kind::likely:
      finding.help = "possibly " + cause.text;
      break;
    case Cause::Kind::not_copied:
      finding.help = cause.text;
      break;
    case Cause::Kind::unwritten:
      finding.notes.insert(finding.notes.begin(), cause.text);
      finding.help = "possibly the grid has too few threads, or a bounds check is too strict";
      break;
    case Cause::Kind::uninitialized:
      finding.notes.insert(finding.notes.begin(), cause.text);
      finding.help = cause.origin == Origin::written ? "initialize every variable and array before it is read"
                                                     : "write every output, and read only what was written";
      break;
  }
  if (is_unwritten && wrong.device == DeviceKind::simt) add_launches(cause, verdict.count, finding);
  if (is_unwritten) return finding;
  if (const std::string sources = sources_of(first, wrong.step); !sources.empty()) {
    finding.details.push_back("the first sums " + sources);
  }
  const Shape shape = wrong.step.output_shape();
  const int64_t at = ((first.n * shape[1] + first.k) * shape[2] + first.p) * shape[3] + first.q;
  std::optional<Label> writer = simt_writer(&wrong.got[static_cast<size_t>(at)]);
  if (writer && writer->place.line != 0) {
    writer->text = writer->text.substr(0, writer->text.rfind(" it")) + " the first wrong output";
    finding.labels.push_back(std::move(*writer));
  }
  return finding;
}

}  // namespace convlab
